// The kernels that are compiled once per instruction set, in the namespace COHMM_LEVEL.
//
// No include guard: module.cpp includes this once per level.
#include "chain.hpp"

namespace cohmm::COHMM_LEVEL {

// forward.cpp: all blocks of the groups of a part, from their left joints to their right ones, and
// the likelihood of what follows, scaled, from right to left.
void forward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
             const Borders& borders, const Filtered& out);
void backward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
              const Borders& borders);

// forward_backward.cpp: posteriors, or expected counts, a sequence as often as weights (S,) says.
void forward_backward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
                      const Borders& ahead, const Borders& behind, Reals weights,
                      const Filtered& filtered, const Smoothed& out);

// viterbi.cpp: the best path through all blocks, and log P(states, symbols) of every sequence.
void viterbi(const Blocks& data, Part part, const Tables& logs, const Borders& borders,
             const Paths& out);
void path_log_probs(Symbols symbols, Indices offsets, Part part, Symbols states, const Tables& logs,
                    RealsOut log_prob);

// sparse_pass.cpp
void sparse_pass(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix left,
                 FloatMatrix right, MatrixOut out, RealsOut fit);

}  // namespace cohmm::COHMM_LEVEL
