// The Python module: kernels chosen by what the processor can do; none of them holds the GIL.
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "casters.hpp"
#include "plain.hpp"
#ifdef COHMM_X86
#include <cpuid.h>
#endif

#define COHMM_LEVEL baseline
#include "kernels.hpp"
#undef COHMM_LEVEL
#ifdef COHMM_X86
#define COHMM_LEVEL v3
#include "kernels.hpp"
#undef COHMM_LEVEL
#define COHMM_LEVEL v4
#include "kernels.hpp"
#undef COHMM_LEVEL
#endif

namespace nb = nanobind;
using namespace cohmm;

namespace {

#ifdef COHMM_X86
// Whether all of some bits are set.
constexpr bool has_bits(unsigned value, std::initializer_list<int> bits) {
  for (int bit : bits)
    if (!(value >> bit & 1)) return false;
  return true;
}

// The level of x86-64, 1 to 4, as the psABI defines them, that processor and system have;
// asked of the processor directly, as not every compiler brings __builtin_cpu_supports.
int processor_level() {
  unsigned a, b, c, d, c1 = 0, b7 = 0, c_extended = 0, states = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) c1 = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) b7 = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) c_extended = c;
  // Which registers the system keeps: of SSE and AVX bits 1 and 2, of AVX-512 bits 5 to 7.
  if (has_bits(c1, {27})) asm("xgetbv" : "=a"(states), "=d"(d) : "c"(0));
  // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF
  if (!has_bits(c1, {0, 9, 13, 19, 20, 23}) || !has_bits(c_extended, {0})) return 1;
  // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT
  if (!has_bits(c1, {12, 22, 28, 29}) || !has_bits(b7, {3, 5, 8}) || !has_bits(c_extended, {5}) ||
      !has_bits(states, {1, 2}))
    return 2;
  // AVX-512 F, DQ, CD, BW, VL
  return has_bits(b7, {16, 17, 28, 30, 31}) && has_bits(states, {5, 6, 7}) ? 4 : 3;
}
#else
int processor_level() { return 0; }
#endif

// The level of x86-64 to use, 0 elsewhere: the processor's, or a lower one that COHMM_LEVEL asks
// for.
int chosen_level() {
  const int best = processor_level();
  if (best == 1)
    throw std::runtime_error(
        "cohmm needs x86-64-v2 (SSE4.2, of 2009), which this processor has not");
  const char* asked = std::getenv("COHMM_LEVEL");
  if (!asked || !*asked) return best;
  const std::string text = asked;
  for (int level = best ? 2 : 0; level <= best; level++)
    if (text == std::to_string(level)) return level;
  throw std::runtime_error("COHMM_LEVEL is '" + text + "': on this processor it may be " +
                           (best ? "2 to " + std::to_string(best) : "0 alone") + ", or unset");
}

#ifdef COHMM_X86
#define BEST(kernel) (level >= 4 ? v4::kernel : level == 3 ? v3::kernel : baseline::kernel)
#else
#define BEST(kernel) baseline::kernel
#endif

// All kernels by name: those of which the best level is bound, and those that are compiled once.
// clang-format off
#define VECTORISED(BIND) \
  BIND(forward) BIND(backward) BIND(forward_backward) BIND(viterbi) BIND(path_log_probs) \
  BIND(sparse_pass) BIND(sparse_times) BIND(fill_table) BIND(triple_pass) \
  BIND(infer_documents) BIND(predict_words) BIND(count_words) BIND(count_moves) \
  BIND(two_nearest) BIND(move_centres) BIND(nearest_by_squares) BIND(nearest_by_divergence)
#define PLAIN(BIND) \
  BIND(log_filter) BIND(log_backward) BIND(log_expected_counts) \
  BIND(alias_tables) BIND(sample_path) BIND(draw_states) \
  BIND(count_rows) BIND(cut_rows) BIND(fill_buckets) BIND(pack_equal) \
  BIND(entry_keys) BIND(sum_keys) BIND(triple_keys) \
  BIND(window_cooccurrence) BIND(count_documents) \
  BIND(split_words) BIND(split_text) BIND(follow_quotes)
// clang-format on

}  // namespace

NB_MODULE(_native, m) {
  const int level = chosen_level();
  m.attr("level") = level;
  nb::call_guard<nb::gil_scoped_release> unlocked;
#define BIND_BEST(kernel) m.def(#kernel, BEST(kernel), unlocked);
#define BIND_PLAIN(kernel) m.def(#kernel, kernel, unlocked);
  VECTORISED(BIND_BEST)
  PLAIN(BIND_PLAIN)
  m.def("count_dense", count_dense<i64>, unlocked);
  m.def("count_dense", count_dense<double>, unlocked);
}
