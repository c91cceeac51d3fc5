// The kernels that are compiled once per instruction set, in the namespace COHMM_LEVEL.
//
// No include guard: module.cpp includes this once per level.
#include "arrays.hpp"
#include "document_types.hpp"

namespace cohmm::COHMM_LEVEL {

// sparse_pass.cpp
void sparse_pass(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix left,
                 FloatMatrix right, MatrixOut out, RealsOut fit);
void fill_table(Matrix values, Reals scale, FloatMatrixOut out);

// sparse_times.cpp
void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out);

// infer_documents.cpp, predict_words.cpp, count_words.cpp, count_moves.cpp
void infer_documents(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                     bool halves, i64 sweeps, double tol, const Reading& out);
void predict_words(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                   RealsOut logs);
void count_words(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& chain, i64 sweeps, MatrixOut proportions, MatrixOut counts,
                 RealsOut totals);
void count_moves(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& chain, i64 sweeps, MatrixOut moves);

}  // namespace cohmm::COHMM_LEVEL
