// A sparse matrix times a table of several columns, whose rows are read once for all of them:
//
//     out[rows] = matrix[rows] @ right
//
// Sums over a stretch of non-zeros are float32, sums of those float64.
#include "table_rows.hpp"

namespace cohmm {
namespace COHMM_LEVEL {

void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out) {
  const i64 end = columns.size() - 1;
  const float* at[STRETCH + AHEAD];
  over_stretches(indptr, part, right.shape[1], out, [&](i64, i64 first, i64 n, float* sums) {
    rows_at(right, columns.data + first, n, end - first, at);
    weighted_sum(values.data + first, at, n, right.shape[1], sums);
  });
}

}  // namespace COHMM_LEVEL
}  // namespace cohmm
