
/* The report: what stands around the tree. Data come from certree.report._page; every text of the
   data becomes a text node, never markup. */

const data = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);
let shown = data.shown;

function short(number) {
  const options = { maximumSignificantDigits: 4, useGrouping: Math.abs(number) >= 10000 };
  return Number(number.toPrecision(4)).toLocaleString("en-US", options);
}

/* ---- plots --------------------------------------------------------------------------------- */

/* Return the ends of steps of 1, 2 or 5 times a power of ten between two numbers. */
function ticks(low, high, most) {
  const size = (high - low) / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(size)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= size * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
  return found;
}

function plot(label, width, height) {
  return drawn("svg", {
    class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label,
  });
}

/* Bars over bins, stacked by class; the line is where the test cuts. */
function histogram(spread, colours, label) {
  const width = 380, height = 170, left = 4, right = 4, top = 22, bottom = 34;
  const svg = plot(label, width, height);
  const n = spread.bins[0].length, inner = width - left - right, rise = height - top - bottom;
  const totals = spread.bins[0].map((_, k) => spread.bins.reduce((sum, bins) => sum + bins[k], 0));
  const most = Math.max(...totals, 1), at = (x) => left + inner * (x - spread.low) / (spread.high - spread.low);
  const middle = (k) => spread.low + (k + 0.5) * (spread.high - spread.low) / n;
  for (let k = 0; k < n; k += 1) {
    let base = top + rise;
    spread.bins.forEach((bins, series) => {
      const tall = rise * bins[k] / most;
      base -= tall;
      const bar = drawn("rect", {
        x: (left + inner * k / n + 0.5).toFixed(1),
        y: base.toFixed(1),
        width: (inner / n - 1).toFixed(1),
        height: tall.toFixed(1),
      });
      if (colours) bar.setAttribute("fill", colours[series]);
      else bar.setAttribute("class", "plain" + (middle(k) > spread.cut ? " after" : ""));
      svg.append(bar);
    });
  }
  svg.append(drawn("line", { class: "guide", x1: left, x2: width - right, y1: top + rise, y2: top + rise }));
  const labels = spread.labels || ticks(spread.low, spread.high, 5).map((tick) => [tick, short(tick)]);
  for (const [tick, text] of labels) {
    const side = at(tick) < 16 ? "start" : at(tick) > width - 16 ? "end" : "middle";
    svg.append(drawn("text", { x: at(tick), y: height - bottom + 16, "text-anchor": side }, text));
  }
  const cut = at(spread.cut);
  svg.append(drawn("line", { class: "cut", x1: cut, x2: cut, y1: top - 4, y2: top + rise + 4 }));
  const anchor = cut < 90 ? "start" : cut > width - 90 ? "end" : "middle";
  const words = spread.cut_text || String(Number(spread.cut.toPrecision(7)));
  svg.append(drawn("text", { class: "cut-text", x: cut, y: 12, "text-anchor": anchor }, words));
  svg.append(drawn("text", { x: left, y: height - 3 }, `rows: at most ${most} in a bar`));
  return svg;
}

/* Points about the diagonal, one for each leaf; points are [x, y, rows, name]. */
function diagonal(points, labels, unit) {
  const size = 250, left = 48, bottom = 40, top = 8, right = 12;
  const svg = plot(labels.title, size + left + right, size + top + bottom);
  const values = points.flatMap(([x, y]) => [x, y]);
  let low = unit ? 0 : Math.min(...values), high = unit ? 1 : Math.max(...values);
  if (!unit) {
    const margin = 0.05 * (high - low) || 1;
    low -= margin;
    high += margin;
  }
  const x = (v) => left + size * (v - low) / (high - low), y = (v) => top + size * (high - v) / (high - low);
  svg.append(drawn("rect", { class: "frame", x: left, y: top, width: size, height: size }));
  for (const tick of ticks(low, high, 5)) {
    svg.append(drawn("text", { x: x(tick), y: top + size + 16, "text-anchor": "middle" }, short(tick)),
      drawn("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  svg.append(drawn("line", { class: "ideal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
  const most = Math.max(...points.map((point) => point[2]));
  for (const [stated, seen, rows, name] of points) {
    const r = (3 + 11 * Math.sqrt(rows / most)).toFixed(1);
    svg.append(drawn("circle", { class: "dot", cx: x(stated).toFixed(1), cy: y(seen).toFixed(1), r },
      drawn("title", null, `${name}: stated ${short(stated)}, observed ${short(seen)}, ${amount(rows)} rows`)));
  }
  svg.append(drawn("text", { x: left + size / 2, y: top + size + 34, "text-anchor": "middle" }, labels.x),
    drawn("text", { "text-anchor": "middle", transform: `translate(12 ${top + size / 2}) rotate(-90)` }, labels.y));
  return svg;
}

/* ---- the proof ----------------------------------------------------------------------------- */

function showProof(tree) {
  const body = byId("proof-body");
  if (!tree.statement) {
    body.replaceChildren(element("p", null, "This tree comes without a certificate, so nothing is proven about it."));
    return;
  }
  const facts = tree.facts.flatMap(([name, text]) => [element("dt", null, name), element("dd", null, text)]);
  const list = element("dl", { class: "facts" }, ...facts);
  body.replaceChildren(
    element("span", { class: "badge" + (tree.proven ? " proven" : "") }, tree.status),
    element("p", { class: "statement" }, tree.statement),
    element("p", { class: "hint meaning" }, tree.meaning),
    element("details", null, element("summary", null, "The certificate in full"), list));
}

/* ---- what is said of a node ---------------------------------------------------------------- */

function spreadOf(node) {
  const tree = data.trees[shown];
  const spread = tree.spread && tree.spread[node];
  if (!spread) return null;
  const title = `${spread.name} among ${amount(spread.rows)} rows`;
  const box = element("div", { class: "spread" }, element("h4", null, title));
  const colours = spread.series.length ? spread.series.map((k) => tree.view.colours[k]) : null;
  if (spread.bins) {
    box.append(histogram(spread, colours, `${title}, cut at ${spread.cut_text || short(spread.cut)}`));
    const notes = [];
    if (spread.beyond) notes.push("The outer bars also count rows beyond them.");
    if (spread.missing) {
      const side = spread.sides[spread.missing_side];
      notes.push(`${amount(spread.missing)} rows have no value; they take the side \u201c${side}\u201d.`);
    }
    if (notes.length) box.append(element("p", { class: "told" }, notes.join(" ")));
  } else if (spread.values.length) {
    box.append(valueTable(spread, colours));
  } else {
    box.append(element("p", { class: "told" }, `There are fewer than ${spread.fewest} values, too few for a chart.`));
  }
  return box;
}

function valueTable(spread, colours) {
  const sum = (counts) => counts.reduce((a, b) => a + b, 0);
  const most = Math.max(...spread.values.map((value) => sum(value[2])), 1);
  return element("table", { class: "bars" }, element("tbody", null, ...spread.values.map(([name, side, counts]) =>
    element("tr", null,
      element("th", { scope: "row" }, name),
      element("td", { class: "track", "aria-hidden": "true" }, element("div", { style: { display: "flex" } },
        ...counts.map((count, k) => element("i", {
          style: {
            width: (100 * count / most).toFixed(1) + "%",
            "min-width": "0",
            background: colours ? colours[k] : "var(--blue)",
          },
        })))),
      element("td", { class: "number" }, amount(sum(counts))),
      element("td", null, side < 0 ? "" : spread.sides[side])))));
}

/* ---- the chart of choices ------------------------------------------------------------------ */

function showChart() {
  if (!data.chart) return;
  const placed = data.trees.map((tree, k) => [tree.place, k]).filter(([place]) => place);
  if (placed.length < 2 && data.trees.length < 2) return;
  byId("choice").hidden = false;
  byId("choice-title").textContent = data.chart.title;
  const width = Math.max(280, Math.min(640, byId("chart").clientWidth || 640)), height = 300;
  const left = 60, right = 16, top = 12, bottom = 46;
  const held = heldOut();
  const xs = placed.map(([place]) => place[0]);
  const ys = placed.map(([place]) => place[1]).concat(held.map(([, value]) => value));
  const span = (values) => {
    const low = Math.min(...values), high = Math.max(...values);
    const margin = 0.06 * (high - low) || 0.5 * Math.abs(high) || 1;
    return [low - margin, high + margin];
  };
  const [x0, x1] = span(xs), [y0, y1] = span(ys);
  const x = (v) => left + (width - left - right) * (v - x0) / (x1 - x0);
  const y = (v) => top + (height - top - bottom) * (y1 - v) / (y1 - y0);
  const svg = plot(data.chart.title, width, height);
  svg.setAttribute("role", "radiogroup");
  for (const tick of ticks(y0, y1, 5)) {
    svg.append(drawn("line", { class: "guide", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      drawn("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  const whole = xs.every(Number.isInteger);
  for (const tick of ticks(x0, x1, 8)) {
    if (whole && !Number.isInteger(tick)) continue;
    svg.append(drawn("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, short(tick)));
  }
  const step = ([a, b], k) => `${k ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
  const line = (points, kind) => drawn("path", { class: kind, d: points.map(step).join("") });
  svg.append(line(placed.map(([place]) => place), "line"));
  if (held.length) {
    svg.append(line(held, "line other"));
    for (const [a, b] of held) svg.append(drawn("circle", { class: "dot other", cx: x(a), cy: y(b), r: 3.5 }));
  }
  const across = left + (width - left - right) / 2, down = top + (height - top - bottom) / 2;
  svg.append(drawn("text", { x: across, y: height - 6, "text-anchor": "middle" }, data.chart.x),
    drawn("text", { "text-anchor": "middle", transform: `translate(13 ${down}) rotate(-90)` }, data.chart.y));
  const points = placed.map(([place, k]) => {
    const group = drawn("g", { class: "point", role: "radio", "data-tree": k, "aria-label": data.trees[k].name },
      drawn("title", null, data.trees[k].name),
      drawn("circle", { class: "reach", cx: x(place[0]), cy: y(place[1]), r: 13 }),
      drawn("circle", { class: "mark", cx: x(place[0]), cy: y(place[1]), r: 5.5 }));
    group.addEventListener("click", () => exchange(k));
    return group;
  });
  svg.append(...points);
  svg.addEventListener("keydown", (event) => {
    const place = points.indexOf(document.activeElement);
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (place < 0) return;
    if (move) {
      event.preventDefault();
      const next = points[(place + move + points.length) % points.length];
      exchange(Number(next.dataset.tree));
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      exchange(Number(points[place].dataset.tree));
    }
  });
  byId("chart").replaceChildren(svg);
  if (held.length) {
    byId("chart").append(element("ul", { class: "key" },
      element("li", null, element("i"), data.chart.y),
      element("li", { class: "other" }, element("i"), `the same on held-out rows (${heldName()})`)));
  }
}

/* The same measure on held-out rows, where the chart shows one that can be computed there. */
function heldName() {
  return { "training accuracy": "Accuracy", "training R2": "R2" }[data.chart.y];
}

function heldOut() {
  const name = heldName();
  if (!name) return [];
  const found = [];
  for (const tree of data.trees) {
    const held = tree.quality.find((set) => set.name === "Held-out rows");
    const metric = held && held.metrics.find(([called]) => called === name);
    if (metric && tree.place && Number.isFinite(Number(metric[1]))) found.push([tree.place[0], Number(metric[1])]);
  }
  return found;
}

function exchange(k) {
  shown = k;
  const tree = data.trees[k];
  treeView.show(tree.view);
  showProof(tree);
  showQuality(tree);
  showGroups(tree);
  for (const point of document.querySelectorAll(".point")) {
    const isChosen = Number(point.dataset.tree) === k;
    point.setAttribute("aria-checked", String(isChosen));
    point.setAttribute("tabindex", isChosen ? "0" : "-1");
  }
  const told = byId("exchanged");
  if (k === data.shown) told.replaceChildren();
  else {
    told.replaceChildren(`Shown is another tree than that of the model: ${tree.name}. `,
      element("button", { type: "button", onclick: () => exchange(data.shown) }, "Back to the model\u2019s tree"));
  }
  const tests = data.form.fields.length ? tree.tests.filter((test) => test >= 0) : [];
  const used = new Set(tests.map((test) => data.form.tests[k][test].field));
  const formulas = data.form.formulas[k] || [];
  for (const leaf of tree.view.nodes) {
    for (const [field] of (formulas[leaf.label] || [0, []])[1]) used.add(field);
  }
  document.querySelectorAll("#form label").forEach((label, field) => { label.hidden = !used.has(field); });
  byId("row").hidden = !used.size;
  if (isAsked) ask();
}

/* ---- one row ------------------------------------------------------------------------------- */

let isAsked = false;

function showForm() {
  const form = byId("form");
  data.form.fields.forEach((field, k) => {
    const name = `field-${k}`, value = String(field.value);
    let input = null;
    if (field.kind === "number") input = element("input", { type: "number", step: "any", name, value });
    else if (field.kind === "time") input = element("input", { type: "text", name, value, placeholder: EXAMPLES[field.form] });
    else {
      input = element("select", { name }, ...field.options.map((text, i) =>
        element("option", { value: i, selected: i === field.value }, text)));
    }
    form.append(element("label", null, field.name, input, field.hint ? element("small", null, field.hint) : null));
  });
  form.append(element("div", null, element("button", { type: "submit" }, "Show the way"), " ",
    element("button", { type: "button", id: "forget", onclick: forget }, "Clear")));
  form.noValidate = true;
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  form.addEventListener("input", () => { if (isAsked) ask(); });
}

function forget() {
  isAsked = false;
  byId("answer").replaceChildren();
  for (const input of byId("form").elements) input.removeAttribute("aria-invalid");
  treeView.highlight(null);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Return what is wrong with what a field holds; nothing if all is well. */
function wrongIn(field, input) {
  const text = input.value.trim();
  if (field.kind === "number") {
    // An unreadable number has no text that could be shown.
    const isWrong = input.validity.badInput || (text !== "" && !Number.isFinite(Number(text)));
    return isWrong ? `${field.name} is a number, such as 12.5.` : "";
  }
  if (field.kind !== "time" || text === "" || momentOf(text, field.form) !== null) return "";
  return `${field.name} is ${KINDS[field.form]}, such as ${EXAMPLES[field.form]}, but here it is \u201c${text}\u201d.`;
}

/* Return the outcome of a test for what the form holds, and the value in words. */
function outcomeOf(test, form) {
  const field = data.form.fields[test.field], input = form.elements[`field-${test.field}`];
  if (field.kind === "choice") return [test.outcomes[Number(input.value)], field.options[Number(input.value)]];
  const text = input.value.trim();
  return text === "" ? [test.missing, "missing"] : [sideOf(test, field, text), text];
}

/* Return the outcome of a test for a number or a time. */
function sideOf(test, field, text) {
  if (test.moment !== undefined) return momentOf(text, field.form) <= BigInt(test.moment) ? 0 : 1;
  if (test.cut !== undefined) return test.sides[Number(text) <= test.cut ? 0 : 1];
  if (test.values === undefined) return 1 - test.missing;
  const named = test.values.find(([value]) => value === Number(text));
  return named ? named[1] : test.other;
}

/* Return the number that the formula of a leaf gives for what the form holds, in words. */
function computed([intercept, terms], form) {
  const lacking = terms.find(([field]) => form.elements[`field-${field}`].value.trim() === "");
  if (lacking) return `no number without ${data.form.fields[lacking[0]].name}, which its formula needs: `;
  const sum = terms.reduce((total, [field, slope]) =>
    total + slope * Number(form.elements[`field-${field}`].value), intercept);
  return terms.length ? `${Number(sum.toPrecision(6))} = ` : "";
}

/* Mark the fields that cannot be read, and return what is wrong with them. */
function problems(form) {
  const found = [];
  data.form.fields.forEach((field, k) => {
    const input = form.elements[`field-${k}`];
    const wrong = input.closest("label").hidden ? "" : wrongIn(field, input);
    if (wrong) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    if (wrong) found.push(wrong);
  });
  return found;
}

function ask() {
  isAsked = true;
  const tree = data.trees[shown], tests = data.form.tests[shown], form = byId("form");
  const wrong = problems(form);
  if (wrong.length) {
    byId("answer").replaceChildren(...wrong.map((text) => element("p", { class: "wrong" }, text)));
    treeView.highlight(null);
    return;
  }
  const path = [0], steps = [];
  let node = 0;
  while (tree.view.nodes[node].children.length) {
    const test = tests[tree.tests[node]];
    const [outcome, value] = outcomeOf(test, form);
    const child = tree.view.nodes[node].children[0] + outcome;
    const { says } = tree.view.nodes[node], { answer } = tree.view.nodes[child];
    const { name } = data.form.fields[test.field];
    steps.push(element("li", null, `${says}? ${answer} (${name}: ${value})`));
    node = child;
    path.push(node);
  }
  const leaf = tree.view.nodes[node];
  const formula = (data.form.formulas[shown] || [])[leaf.label];
  const prediction = element("strong", null,
    `Prediction: ${formula ? computed(formula, form) : ""}${tree.view.contents[leaf.label]}`);
  byId("answer").replaceChildren(
    element("p", null, prediction, leaf.told ? ` \u2013 ${leaf.told} in training` : ""),
    element("ol", null, ...steps));
  treeView.highlight(path);
}

/* ---- quality ------------------------------------------------------------------------------- */

function showQuality(tree) {
  const body = byId("quality-body"), sets = tree.quality;
  if (!sets.length) {
    body.replaceChildren();
    byId("quality").hidden = !document.querySelector("#quality .advice");
    return;
  }
  const parts = [];
  let figures = null;
  const names = [...new Set(sets.flatMap((set) => set.metrics.map((metric) => metric[0])))];
  if (names.length) {
    const value = (set, name) => (set.metrics.find((metric) => metric[0] === name) || [0, "\u2013"])[1];
    const help = (name) => sets.map((set) => set.metrics.find((metric) => metric[0] === name)).find(Boolean)[2];
    figures = element("div", { class: "scroll" }, element("h3", null, "Figures"), element("table", { class: "figures" },
      element("thead", null, element("tr", null, element("th"), ...sets.map((set) =>
        element("th", { scope: "col" }, `${set.name} (${amount(set.n)})`)))),
      element("tbody", null, ...names.map((name) => element("tr", null,
        element("th", { scope: "row" }, name, element("small", null, help(name))),
        ...sets.map((set) => element("td", null, value(set, name))))))));
  }
  for (const set of sets) if (set.confusion) parts.push(confusion(set, tree));
  const first = sets[0];
  if (first.calibration && first.calibration.points.length && first.name === "Held-out rows") {
    const labels = { title: "Calibration", x: `stated share of ${first.calibration.of}`, y: "observed share" };
    parts.push(element("div", null, element("h3", null, "Calibration on held-out rows"),
      diagonal(first.calibration.points, labels, true),
      element("p", { class: "hint" },
        "One point for each leaf, larger with more rows. On the line, shares are as stated."
        + leftOut(first.calibration.left_out))));
  }
  if (first.means && first.means.points.length) {
    const labels = { title: "Predicted and observed means", x: "predicted", y: "observed mean" };
    parts.push(element("div", null, element("h3", null, `Leaves: ${first.name.toLowerCase()}`),
      diagonal(first.means.points, labels, false),
      element("p", { class: "hint" }, "One point for each leaf, larger with more rows." + leftOut(first.means.left_out))));
  }
  if (first.residuals) {
    parts.push(element("div", null, element("h3", null, `Residuals: ${first.name.toLowerCase()}`),
      histogram(first.residuals, null, "Residuals: true minus predicted value"),
      element("p", { class: "hint" }, "True minus predicted value; the line is at zero.")));
  }
  if (first.counts) {
    const total = first.counts.rows.reduce((sum, row) => sum + row[1], 0) || 1;
    const rows = first.counts.rows.map(([name, n], k) => ({
      name, share: n / total, number: amount(n), colour: tree.view.colours[k] || "var(--blue)",
    }));
    parts.push(element("div", { class: "certree-app" },
      element("h3", null, `${first.counts.title}: ${first.name.toLowerCase()}`),
      barTable(rows, first.counts.title)));
  }
  const rest = element("div", { class: "columns rest" }, ...parts);
  body.replaceChildren(element("div", { class: "columns" }, figures, rest));
}

function leftOut(leaves) {
  if (!leaves) return "";
  return leaves === 1 ? " One leaf with very few rows is left out." : ` ${leaves} leaves with very few rows are left out.`;
}

function confusion(set, tree) {
  const { names, counts } = set.confusion;
  const lines = counts.map((row, i) => {
    const total = row.reduce((a, b) => a + b, 0) || 1;
    return element("tr", null, element("th", { scope: "row" }, names[i]), ...row.map((count, j) => {
      const share = count / total;
      return element("td", {
        class: (i === j ? "right" : "") + (share > 0.55 ? " strong" : ""),
        title: `${names[i]} predicted as ${names[j]}: ${amount(count)} (${percent(share)})`,
        style: { "--share": `${(70 * share).toFixed(1)}%`, "--shade": i === j ? "#4a90c4" : "#d98a3d" },
      }, amount(count));
    }));
  });
  return element("div", { class: "scroll" + (names.length > 8 ? " many" : "") },
    element("h3", null, `Confusion: ${set.name.toLowerCase()}`),
    element("table", { class: "confusion" },
      element("thead", null,
        element("tr", null, element("th", { class: "axis" }, "true \u2193"),
          element("th", { class: "axis", colspan: names.length }, "predicted")),
        element("tr", null, element("th"), ...names.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", null, ...lines)));
}

/* ---- groups -------------------------------------------------------------------------------- */

function showGroups(tree) {
  byId("groups").hidden = !tree.groups.length;
  byId("groups-body").replaceChildren(element("div", { class: "columns" }, ...tree.groups.map((set) => {
    const apart = (of) => {
      const known = of.filter((value) => value !== null);
      return known.length ? short(Math.max(...known) - Math.min(...known)) : "\u2013";
    };
    return element("div", { class: "scroll" }, element("h3", null, set.name), element("table", { class: "figures" },
      element("thead", null, element("tr", null, element("th", null, "group"),
        ...set.rates.map(([name]) => element("th", { scope: "col" }, name)))),
      element("tbody", null,
        ...set.groups.map((group, k) => element("tr", null, element("th", { scope: "row" }, group),
          ...set.rates.map(([, of]) => element("td", null, of[k] === null ? "\u2013" : short(of[k]))))),
        element("tr", null, element("th", { scope: "row" }, "apart"),
          ...set.rates.map(([, of]) => element("td", null, apart(of)))))));
  })));
}

/* ---- all together -------------------------------------------------------------------------- */

const treeView = new TreeView(byId("tree"), data.trees[shown].view, { more: spreadOf });
showForm();
showChart();
exchange(shown);
window.addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll("details")) closed.open = true;
});
