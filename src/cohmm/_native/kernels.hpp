// The kernels that are compiled once per instruction set, in the namespace COHMM_LEVEL.
//
// No include guard: module.cpp includes this once per level.
#include "arguments.hpp"

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
void fill_table(Matrix values, Reals scale, FloatMatrixOut out);

void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out);

// infer_documents.cpp, predict_words.cpp, expected_counts.cpp
void infer_documents(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                     bool halves, i64 sweeps, double tol, const Reading& out);
void predict_words(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                   RealsOut logs);
void count_words(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& chain, i64 sweeps, MatrixOut proportions, MatrixOut counts,
                 RealsOut totals);
void count_moves(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& chain, i64 sweeps, MatrixOut moves);

// triple_pass.cpp
double triple_pass(const TripleRuns& runs, Part part, bool divided, Matrix left, Matrix centre,
                   Matrix right, const TripleSums& out);

// nearest.cpp
void two_nearest(Matrix distance, IndicesOut labels, RealsOut least, RealsOut second);
void move_centres(Matrix points, Reals weights, Indices labels, Flags changed, MatrixOut centres);

// simplex.cpp
i64 nearest_by_squares(Matrix gram, Matrix targets, Part part, double tol, i64 max_iter,
                       MatrixOut out);
i64 nearest_by_divergence(Matrix table, Indices indptr, Symbols indices, Reals values, Part part,
                          double tol, i64 max_iter, MatrixOut out);

}  // namespace cohmm::COHMM_LEVEL
