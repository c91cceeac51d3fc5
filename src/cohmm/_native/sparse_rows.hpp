// Rows of a float32 table, whose columns are padded to a multiple of 16, and their weighted sums.
#pragma once
#include "simd.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr int LF = 2 * L;     // floats in a vector
constexpr i64 STRETCH = 128;  // non-zeros whose sum is float32
constexpr i64 AHEAD = 16;     // non-zeros: rows are prefetched
using Lane = Vec<float, LF>;

// A stretch of the non-zeros of a row: n values, and the rows of the table for their columns. Those
// up to columns[last] come next.
struct Stretch {
  const i32* columns;
  const float* values;
  i64 n, last;
  FloatMatrix table;

  INLINE const float* row(i64 i) const { return table.data + columns[i] * table.shape[1]; }
  INLINE void prefetch(i64 i, i64 begin, i64 end) const {
    const float* next = row(least(i + AHEAD, last));
    for (i64 k = begin; k < end; k += 16) __builtin_prefetch(next + k);
  }
};

// out[:V LF] = sum_i factors[i] row(i)[:V LF], from column `offset` on, in registers.
template <int V>
INLINE void weighted_panel(const float* factors, const Stretch& of, i64 offset, float* out) {
  constexpr int CHAINS = V >= 8 ? 1 : V >= 4 ? 2 : 4;  // sums that need not wait for one another
  Lane sum[CHAINS][V] = {};
  auto add = [&](i64 i, Lane* to) INLINE_LAMBDA {
    const float* row = of.row(i) + offset;
    const Lane factor = splat<Lane>(factors[i]);
    UNROLL for (int v = 0; v < V; v++) to[v] += factor * load<LF>(row + v * LF);
  };
  const i64 whole = of.n - of.n % CHAINS;
  for (i64 i = 0; i < whole; i += CHAINS) UNROLL for (int c = 0; c < CHAINS; c++) {
      of.prefetch(i + c, offset, offset + V * LF);
      add(i + c, sum[c]);
    }
  for (i64 i = whole; i < of.n; i++) add(i, sum[0]);
  UNROLL for (int v = 0; v < V; v++) {
    UNROLL for (int c = 1; c < CHAINS; c++) sum[0][v] += sum[c][v];
    store(out + offset + v * LF, sum[0][v]);
  }
}

// out[:width] = factors[:n] @ rows, by panels of columns.
INLINE void weighted_sum(const float* factors, const Stretch& of, float* out) {
  constexpr int PANEL_LANES = 8;
  const i64 width = of.table.shape[1];
  i64 offset = 0;
  for (; offset + PANEL_LANES * LF <= width; offset += PANEL_LANES * LF)
    weighted_panel<PANEL_LANES>(factors, of, offset, out);
  with_width<16, 32, 48, 64, 80, 96, 112>(width - offset, [&](auto columns) INLINE_LAMBDA {
    constexpr int V = decltype(columns)::value / LF;
    if constexpr (V < PANEL_LANES) weighted_panel<V>(factors, of, offset, out);
  });
}

// out[r] = the sum, in float64, of what sum(r, stretch, sums) gives in float32, for the rows in
// part of a sparse matrix and at most STRETCH of their non-zeros at a time.
template <class Sum>
INLINE void over_stretches(Indices indptr, Symbols columns, Floats values, Part part,
                           FloatMatrix table, MatrixOut out, Sum sum) {
  Buffer<float> sums(table.shape[1]);
  const i64 end = columns.size() - 1;
  for (i64 r = part.first; r < part.second; r++) {
    double* row = out.row(r);
    for (i64 k = 0; k < out.shape[1]; k++) row[k] = 0.0;
    for (i64 first = indptr[r], last = indptr[r + 1]; first < last; first += STRETCH) {
      const i64 n = least(last - first, STRETCH);
      sum(r, Stretch{columns.data + first, values.data + first, n, end - first, table}, sums);
      for (i64 k = 0; k < out.shape[1]; k++) row[k] += double(sums[k]);
    }
  }
}

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
