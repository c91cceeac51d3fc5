// Rows of a float32 table, whose columns are padded to a multiple of 16, and their weighted sums.
#pragma once
#include "simd.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr int LF = 2 * L;     // floats in a vector
constexpr i64 STRETCH = 128;  // non-zeros whose sum is float32
constexpr i64 AHEAD = 16;     // non-zeros: rows are prefetched
using Lane = Vec<float, LF>;

// out[:V LF] = sum_i factors[i] at[i][:V LF], in registers; at[n:n + AHEAD] are rows that come
// next.
template <int V>
INLINE void weighted_panel(const float* factors, const float* const* at, i64 n, i64 offset,
                           float* out) {
  constexpr int CHAINS = V >= 8 ? 1 : V >= 4 ? 2 : 4;  // sums that need not wait for one another
  Lane sum[CHAINS][V] = {};
  const i64 whole = n - n % CHAINS;
  for (i64 i = 0; i < whole; i += CHAINS) UNROLL for (int c = 0; c < CHAINS; c++) {
      const float* next = at[i + c + AHEAD] + offset;
      UNROLL for (int v = 0; v < V * LF; v += 16) __builtin_prefetch(next + v);
      const Lane factor = splat<Lane>(factors[i + c]);
      UNROLL for (int v = 0; v < V; v++) sum[c][v] +=
          factor * load<LF>(at[i + c] + offset + v * LF);
    }
  for (i64 i = whole; i < n; i++) {
    const Lane factor = splat<Lane>(factors[i]);
    UNROLL for (int v = 0; v < V; v++) sum[0][v] += factor * load<LF>(at[i] + offset + v * LF);
  }
  UNROLL for (int v = 0; v < V; v++) {
    UNROLL for (int c = 1; c < CHAINS; c++) sum[0][v] += sum[c][v];
    store(out + offset + v * LF, sum[0][v]);
  }
}

// out[:width] = factors[:n] @ at[:n], by panels of columns.
INLINE void weighted_sum(const float* factors, const float* const* at, i64 n, i64 width,
                         float* out) {
  constexpr int PANEL_LANES = 8;
  i64 offset = 0;
  for (; offset + PANEL_LANES * LF <= width; offset += PANEL_LANES * LF)
    weighted_panel<PANEL_LANES>(factors, at, n, offset, out);
  with_width<16, 32, 48, 64, 80, 96, 112>(width - offset, [&](auto columns) INLINE_LAMBDA {
    constexpr int V = decltype(columns)::value / LF;
    if constexpr (V < PANEL_LANES) weighted_panel<V>(factors, at, n, offset, out);
  });
}

// at[i] = the row of the table for columns[i], i < n + AHEAD; the last there is stands for more.
INLINE void rows_at(FloatMatrix table, const i32* columns, i64 n, i64 last, const float** at) {
  for (i64 i = 0; i < n + AHEAD; i++) at[i] = table.data + columns[least(i, last)] * table.shape[1];
}

// out[r] = the sum, in float64, of what stretch(r, first, n, sums) gives in float32, for the rows
// in part and at most STRETCH of their non-zeros at a time.
template <class Stretch>
INLINE void over_stretches(Indices indptr, Part part, i64 width, MatrixOut out, Stretch stretch) {
  Buffer<float> sums(width);
  for (i64 r = part.first; r < part.last; r++) {
    double* row = out.row(r);
    for (i64 k = 0; k < out.shape[1]; k++) row[k] = 0.0;
    for (i64 first = indptr[r], last = indptr[r + 1]; first < last; first += STRETCH) {
      stretch(r, first, least(last - first, STRETCH), sums);
      for (i64 k = 0; k < out.shape[1]; k++) row[k] += double(sums[k]);
    }
  }
}

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
