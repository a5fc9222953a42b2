#include "options.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace certree {

namespace {

SearchKind read_search(const std::string& name) {
  if (name == "auto") return SearchKind::automatic;
  if (name == "depth-first") return SearchKind::depth_first;
  if (name == "best-first") return SearchKind::best_first;
  throw std::invalid_argument("search must be 'auto', 'depth-first' or 'best-first', got '" + name + "'");
}

Isa read_isa(const std::string& name) {
  if (name == "auto") return best_isa();
  if (name == "baseline") return Isa::baseline;
  if (name == "avx2") return Isa::avx2;
  if (name == "avx512") return Isa::avx512;
  throw std::invalid_argument("isa must be 'auto', 'baseline', 'avx2' or 'avx512', got '" + name + "'");
}

template <class T>
T read(nb::handle value, const std::string& name) {
  try {
    return nb::cast<T>(value);
  } catch (const nb::cast_error&) {
    throw nb::type_error(("option '" + name + "' has the wrong type or does not fit its range").c_str());
  }
}

}  // namespace

Options read_options(const OptionDict& given) {
  Options options;
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "max_depth")
      options.max_depth = read<std::int32_t>(value, name);
    else if (name == "max_splits")
      options.max_splits = read<std::int64_t>(value, name);
    else if (name == "min_leaf")
      options.min_leaf = read<std::int64_t>(value, name);
    else if (name == "error_scale")
      options.error_scale = read<Cost>(value, name);
    else if (name == "split_penalty")
      options.split_penalty = read<Cost>(value, name);
    else if (name == "gap")
      options.gap = read<Cost>(value, name);
    else if (name == "time_limit")
      options.time_limit_s = read<double>(value, name);
    else if (name == "memory_limit")
      options.memory_limit = read<std::int64_t>(value, name);
    else if (name == "work_limit")
      options.work_limit = read<std::int64_t>(value, name);
    else if (name == "threads")
      options.threads = read<std::int32_t>(value, name);
    else if (name == "search")
      options.search = read_search(read<std::string>(value, name));
    else if (name == "smallest")
      options.smallest = read<bool>(value, name);
    else if (name == "isa")
      options.isa = read_isa(read<std::string>(value, name));
#define CERTREE_SWITCH(option, help) else if (name == #option) options.option = read<bool>(value, name);
#include "options.def"
#undef CERTREE_SWITCH
    else
      throw std::invalid_argument("unknown option '" + name + "'");
  }
  return options;
}

TextDict describe_switches() {
  TextDict out;
#define CERTREE_SWITCH(option, help) out[#option] = help;
#include "options.def"
#undef CERTREE_SWITCH
  return out;
}

TextDict describe_counters() {
  TextDict out;
#define CERTREE_COUNTER(counter, help) out[#counter] = help;
#include "counters.def"
#undef CERTREE_COUNTER
  return out;
}

CountDict counters_to_dict(const Counters& counters) {
  CountDict out;
#define CERTREE_COUNTER(counter, help) out[#counter] = counters.counter;
#include "counters.def"
#undef CERTREE_COUNTER
  return out;
}

TextList available_isas() {
  TextList out;
  out.append("baseline");
  if (isa_is_available(Isa::avx2)) out.append("avx2");
  if (isa_is_available(Isa::avx512)) out.append("avx512");
  return out;
}

}  // namespace certree
