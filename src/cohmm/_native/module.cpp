// The Python module: kernels chosen by what the processor can do; none of them holds the GIL.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "casters.hpp"
#include "csv_quotes.hpp"
#include "document_words.hpp"
#include "log_chain.hpp"
#include "packed_rows.hpp"
#include "pair_counts.hpp"
#include "processor.hpp"
#include "sampling.hpp"
#include "tokenize.hpp"
#include "window_cooccurrence.hpp"

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
  throw std::runtime_error("COHMM_LEVEL is '" + text + "': " +
                           (best ? "this processor has x86-64-v" + std::to_string(best) +
                                       ", so it may be 2 to " + std::to_string(best)
                                 : "on this processor it may be 0 alone") +
                           ", or unset");
}

#ifdef COHMM_X86
#define BEST(kernel) (level >= 4 ? v4::kernel : level == 3 ? v3::kernel : baseline::kernel)
#else
#define BEST(kernel) baseline::kernel
#endif

}  // namespace

NB_MODULE(_native, m) {
  const int level = chosen_level();
  m.attr("level") = level;
  nb::call_guard<nb::gil_scoped_release> unlocked;
  m.def("forward", BEST(forward), unlocked);
  m.def("backward", BEST(backward), unlocked);
  m.def("forward_backward", BEST(forward_backward), unlocked);
  m.def("viterbi", BEST(viterbi), unlocked);
  m.def("path_log_probs", BEST(path_log_probs), unlocked);
  m.def("first_impossible", first_impossible, unlocked);
  m.def("log_forward", log_forward, unlocked);
  m.def("log_surprise", log_surprise, unlocked);
  m.def("log_backward", log_backward, unlocked);
  m.def("add_log_counts", add_log_counts, unlocked);
  m.def("alias_tables", alias_tables, unlocked);
  m.def("sample_path", sample_path, unlocked);
  m.def("draw_states", draw_states, unlocked);

  m.def("sparse_pass", BEST(sparse_pass), unlocked);
  m.def("fill_table", BEST(fill_table), unlocked);
  m.def("sparse_times", BEST(sparse_times), unlocked);
  m.def("infer_documents", BEST(infer_documents), unlocked);
  m.def("predict_words", BEST(predict_words), unlocked);
  m.def("count_words", BEST(count_words), unlocked);
  m.def("count_moves", BEST(count_moves), unlocked);
  m.def("triple_pass", BEST(triple_pass), unlocked);
  m.def("two_nearest", BEST(two_nearest), unlocked);
  m.def("move_centres", BEST(move_centres), unlocked);
  m.def("nearest_by_squares", BEST(nearest_by_squares), unlocked);
  m.def("nearest_by_divergence", BEST(nearest_by_divergence), unlocked);
  m.def("pack_equal", pack_equal, unlocked);
  m.def("entry_keys", entry_keys, unlocked);
  m.def("sum_keys", sum_keys, unlocked);
  m.def("window_cooccurrence", window_cooccurrence, unlocked);

  m.def("count_dense", count_dense<i64>, unlocked);
  m.def("count_dense", count_dense<double>, unlocked);
  m.def("count_rows", count_rows, unlocked);
  m.def("cut_rows", cut_rows, unlocked);
  m.def("fill_buckets", fill_buckets, unlocked);
  m.def("radix_sort", radix_sort<u32>, unlocked);
  m.def("radix_sort", radix_sort<u64>, unlocked);
  m.def("count_distinct", count_distinct, unlocked);
  m.def("merge_equal", merge_equal, unlocked);
  m.def("count_triples", count_triples, unlocked);
  m.def("triple_keys", triple_keys, unlocked);
  m.def("split_words", split_words, unlocked);
  m.def("split_text", split_text, unlocked);
  m.def("follow_quotes", follow_quotes, unlocked);
  m.def("count_documents", count_documents, unlocked);
  m.def("recode", recode, unlocked);
}
