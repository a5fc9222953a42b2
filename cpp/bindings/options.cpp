#include "options.hpp"

#include <nanobind/ndarray.h>
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

std::vector<std::int64_t> read_counts(nb::handle value, const std::string& name) {
  using Counts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const auto counts = read_option<Counts>(value, name);
  return {counts.data(), counts.data() + counts.shape(0)};
}

#ifdef CERTREE_DEBUG_TREE
// The arrays of a result: (test, first_child).
Tree read_tree(nb::handle value, const std::string& name) {
  using Arrays = std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>;
  const auto [test, first_child] = read_option<Arrays>(value, name);
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

// A dict with the fields of Assignment; `entries` has lines of key (two numbers), lower, upper, column and effort.
Assignment read_assignment(nb::handle value, const std::string& name) {
  using Lines = nb::ndarray<const std::int64_t, nb::shape<-1, 6>, nb::c_contig, nb::device::cpu>;
  Assignment part;
  for (auto [key, field] : read_option<nb::dict>(value, name)) {
    const auto field_name = nb::cast<std::string>(key);
    const auto is = [&](const char* other) { return field_name == other; };
    // clang-format off
    if (is("opens_only")) part.opens_only = read_option<bool>(field, field_name);
    else if (is("is_canonical")) part.is_canonical = read_option<bool>(field, field_name);
    else if (is("only")) part.only = read_option<std::vector<std::int32_t>>(field, field_name);
    else if (is("factor")) part.factor = read_option<Cost>(field, field_name);
    else if (is("seed")) {
      part.has_seed = true;
      part.seed = read_option<std::uint64_t>(field, field_name);
    } else if (is("least_effort")) part.least_effort = read_option<std::int64_t>(field, field_name);
    else if (is("path")) {
      for (const auto& [column, holds] : read_option<std::vector<std::pair<std::int32_t, bool>>>(field, field_name))
        part.path.push_back({column, holds});
    } else if (is("entries")) {
      const auto lines = read_option<Lines>(field, field_name);
      for (std::size_t k = 0; k < lines.shape(0); ++k)
        part.entries.push_back({{static_cast<std::uint64_t>(lines(k, 0)), static_cast<std::uint64_t>(lines(k, 1))},
                                lines(k, 2), lines(k, 3), lines(k, 4), lines(k, 5)});
    }
    else throw std::invalid_argument("unknown entry '" + field_name + "' of assignment");
    // clang-format on
  }
  return part;
}

}  // namespace

Options read_options(const OptionDict& given) {
  Options options;
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto is = [&](const char* other) { return name == other; };
    // clang-format off
    if (is("max_depth")) options.max_depth = read_option<std::int32_t>(value, name);
    else if (is("max_splits")) options.max_splits = read_option<std::int64_t>(value, name);
    else if (is("min_leaf")) options.min_leaf = read_option<std::int64_t>(value, name);
    else if (is("row_counts")) options.row_counts = read_counts(value, name);
    else if (is("error_scale")) options.error_scale = read_option<Cost>(value, name);
    else if (is("split_penalty")) options.split_penalty = read_option<Cost>(value, name);
    else if (is("gap")) options.gap = read_option<Cost>(value, name);
    else if (is("known_value")) options.known_value = read_option<Cost>(value, name);
    else if (is("known_splits")) options.known_splits = read_option<std::int64_t>(value, name);
    else if (is("time_limit")) options.time_limit_s = read_option<double>(value, name);
    else if (is("memory_limit")) options.memory_limit = read_option<std::int64_t>(value, name);
    else if (is("work_limit")) options.work_limit = read_option<std::int64_t>(value, name);
    else if (is("turn_work")) options.turn_work = read_option<std::int64_t>(value, name);
    else if (is("threads")) options.threads = read_option<std::int32_t>(value, name);
    else if (is("search")) options.search = read_search(read_option<std::string>(value, name));
    else if (is("smallest")) options.smallest = read_option<bool>(value, name);
    else if (is("assignment")) options.assignment = read_assignment(value, name);
    else if (is("isa")) options.isa = read_isa(read_option<std::string>(value, name));
#ifdef CERTREE_DEBUG_TREE
    else if (is("debug_tree")) options.debug_tree = read_tree(value, name);
    else if (is("debug_discount")) options.debug_discount = read_option<Cost>(value, name);
#endif
#define CERTREE_SWITCH(option, help) else if (is(#option)) options.option = read_option<bool>(value, name);
#include "options.def"
#undef CERTREE_SWITCH
    else throw std::invalid_argument("unknown option '" + name + "'");
    // clang-format on
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

// By AddressSanitizer: about ten times slower.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

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
  out["sanitized"] = kIsSanitized;
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
