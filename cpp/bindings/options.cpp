#include "options.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

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

#ifdef CERTREE_DEBUG_TREE
// The arrays of a result: (test, first_child).
Tree read_tree(nb::handle value, const std::string& name) {
  using Arrays = std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>;
  const auto [test, first_child] = read<Arrays>(value, name);
  if (test.size() != first_child.size()) throw std::invalid_argument("the arrays of debug_tree differ in length");
  Tree tree;
  for (std::size_t v = 0; v < test.size(); ++v) {
    // Children come after their parent, so that no array describes a circle.
    if (test[v] >= 0 && first_child[v] <= static_cast<std::int32_t>(v))
      throw std::invalid_argument("debug_tree has a child before its parent");
    tree.add({test[v], first_child[v], first_child[v] + 1, -1});
  }
  return tree;
}
#endif

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
    else if (name == "known_value")
      options.known_value = read<Cost>(value, name);
    else if (name == "known_splits")
      options.known_splits = read<std::int64_t>(value, name);
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
#ifdef CERTREE_DEBUG_TREE
    else if (name == "debug_tree")
      options.debug_tree = read_tree(value, name);
    else if (name == "debug_discount")
      options.debug_discount = read<Cost>(value, name);
#endif
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

InfoDict describe_build() {
  InfoDict out;
#if defined(__clang__)
  out["compiler"] = "clang " __clang_version__;
#elif defined(__GNUC__)
  out["compiler"] = "gcc " __VERSION__;
#else
  out["compiler"] = "unknown";
#endif
  TextList isas;
  isas.append("baseline");
#ifdef CERTREE_HAVE_AVX2
  isas.append("avx2");
#endif
#ifdef CERTREE_HAVE_AVX512
  isas.append("avx512");
#endif
  out["isas"] = isas;
#ifdef CERTREE_CHECKS
  out["checks"] = true;
#else
  out["checks"] = false;
#endif
  out["debug_tree"] = kChecksKnownTree;
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
