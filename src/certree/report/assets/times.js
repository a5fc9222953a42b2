/* Dates, times and durations that people type, read as certree.encoding._times reads them: as whole
   nanoseconds. Durations may be words, too, as trees show them. */

const EXAMPLES = { date: "2024-03-01 12:30", zoned: "2024-03-01 12:30+01:00", duration: "3 days 4 h 30 min" };
const KINDS = { date: "a date or a time", zoned: "a time with a time zone", duration: "a duration" };
const DATE = new RegExp("^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,9}))?)?"
  + "(Z| UTC|[+-]\\d\\d:?\\d\\d(?::?\\d\\d)?)?)?$");
const DURATION = /^(-?)P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?$/;
const WORDS = /^(-?)\(?(?=\d)(?:(\d+) days?)?(?: ?(\d+) h)?(?: ?(\d+) min)?(?: ?(\d+)(?:\.(\d{1,9}))? s)?\)?$/;
const SECOND = 1000000000n, DAY = 86400n * SECOND;

function clock(hours, minutes, seconds, fraction) {
  const total = (BigInt(hours || 0) * 60n + BigInt(minutes || 0)) * 60n + BigInt(seconds || 0);
  return total * SECOND + BigInt((fraction || "").padEnd(9, "0"));
}

/* Return a text as nanoseconds, since 1970 in UTC or long; null if it is no time of this form. */
function momentOf(text, form) {
  if (form !== "duration") return dateOf(text, form === "zoned");
  const found = DURATION.exec(text) || WORDS.exec(text);
  if (!found) return null;
  const [, sign, days, ...rest] = found;
  const total = BigInt(days || 0) * DAY + clock(...rest);
  return sign ? -total : total;
}

function dateOf(text, isZoned) {
  const found = DATE.exec(text);
  if (!found) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = found;
  if ((zone !== undefined) !== isZoned) return null;
  if (Number(hour || 0) > 23 || Number(minute || 0) > 59 || Number(second || 0) > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day)); // Date.UTC takes the year 24 for 1924
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null;
  const offset = offsetOf(zone);
  if (offset === null) return null;
  const moment = BigInt(date.getTime()) * 1000000n + clock(hour, minute, second, fraction) - offset;
  return moment >= -62135596800n * SECOND && moment < 253402300800n * SECOND ? moment : null;
}

function offsetOf(zone) {
  if (zone === undefined || zone === "Z" || zone === " UTC") return 0n;
  const digits = zone.slice(1).replaceAll(":", "").padEnd(6, "0");
  const [hours, minutes, seconds] = [0, 2, 4].map((at) => Number(digits.slice(at, at + 2)));
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const size = BigInt((hours * 60 + minutes) * 60 + seconds) * SECOND;
  return zone[0] === "-" ? -size : size;
}
