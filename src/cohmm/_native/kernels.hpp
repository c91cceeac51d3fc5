// The kernels that are compiled once per instruction set, in the namespace COHMM_LEVEL.
//
// No include guard: module.cpp includes this once per level.
#include "arrays.hpp"

namespace cohmm::COHMM_LEVEL {

// sparse_pass.cpp
void sparse_pass(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix left,
                 FloatMatrix right, MatrixOut out, RealsOut fit);
void fill_table(Matrix values, Reals scale, FloatMatrixOut out);

// sparse_times.cpp
void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out);

}  // namespace cohmm::COHMM_LEVEL
