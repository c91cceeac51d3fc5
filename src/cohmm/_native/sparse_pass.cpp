// The pass over the non-zeros of a sparse pair law.  For row n with the non-zeros (l, v):
//
//     p = left[n] . right[l];  out[n] += (v / p) * right[l];  fit[n] += v * log p
//
// Tables are float32, in columns padded to a multiple of 16; sums over a stretch of non-zeros are
// float32, sums of those float64.  NumPy, dense:
//
//     law = left @ right.T;  out = (V / law) @ right;  fit = (V * log(law)).sum(1)
#include "sparse_rows.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr i64 NARROW = L == 8 ? 128 : 112;  // columns: of more, sums and rows do not stay near
constexpr float FAINTEST = 1e-30f;
constexpr double NEVER = 1e-18;

// The halves of a vector added up, until there are four elements.
template <class V>
INLINE Vec<float, 4> folded(V v) {
  if constexpr (sizeof(V) == 64)
    return folded(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
  else if constexpr (sizeof(V) == 32)
    return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  else return v;
}

// The sums of four vectors, in one.
INLINE Vec<float, 4> totals_of(const Lane* v) {
  Vec<float, 4> q[4];
  UNROLL for (int g = 0; g < 4; g++) q[g] = folded(v[g]);
  auto a = __builtin_shufflevector(q[0], q[1], 0, 1, 4, 5) +
           __builtin_shufflevector(q[0], q[1], 2, 3, 6, 7);
  auto b = __builtin_shufflevector(q[2], q[3], 0, 1, 4, 5) +
           __builtin_shufflevector(q[2], q[3], 2, 3, 6, 7);
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}

constexpr int G = 4;  // non-zeros that go together

// Rows i to i + G of the table, and the values there; beyond the last, it again with value 0.
INLINE Vec<float, G> together(const Stretch& of, i64 i, const float** at) {
  const bool whole = i + G <= of.n;
  UNROLL for (int g = 0; g < G; g++) at[g] = of.row(whole ? i + g : least(i + g, of.n - 1));
  if (whole) return load<G>(of.values + i);
  Vec<float, G> values{};
  for (int g = 0; i + g < of.n; g++) values[g] = of.values[i + g];
  return values;
}

// logs += values * log(expected); returns values / expected.
INLINE Vec<float, G> divided(Vec<float, G> values, const Lane* dots, Vec<double, G>& logs) {
  Vec<float, G> expected = totals_of(dots), small = splat<Vec<float, G>>(FAINTEST);
  expected = expected > small ? expected : small;
  logs += __builtin_convertvector(values * logarithms<i32, 23, 4>(expected), Vec<double, G>);
  return values / expected;
}

// p = rows . left; out = (values / p) @ rows; returns values * log(p).
//
// Tables have N vectors in a row: rows are still in the nearest cache when they are needed again,
// and sums stay in registers.
template <int N>
INLINE Vec<double, G> dots_and_sum(const float* left_row, const Stretch& of, float* out) {
  Lane left[N], sum[N];
  UNROLL for (int v = 0; v < N; v++) left[v] = load<LF>(left_row + v * LF), sum[v] = Lane{};
  Vec<double, G> logs{};
  for (i64 i = 0; i < of.n; i += G) {
    const float* at[G];
    const auto values = together(of, i, at);
    UNROLL for (int g = 0; g < G; g++) of.prefetch(i + g, 0, N * LF);
    Lane dots[G];
    UNROLL for (int g = 0; g < G; g++) dots[g] = left[0] * load<LF>(at[g]);
    UNROLL for (int v = 1; v < N; v++) UNROLL for (int g = 0; g < G; g++) dots[g] +=
        left[v] * load<LF>(at[g] + v * LF);
    const auto ratios = divided(values, dots, logs);
    UNROLL for (int g = 0; g < G; g++) {
      const Lane ratio = splat<Lane>(ratios[g]);
      UNROLL for (int v = 0; v < N; v++) sum[v] += ratio * load<LF>(at[g] + v * LF);
    }
  }
  UNROLL for (int v = 0; v < N; v++) store(out + v * LF, sum[v]);
  return logs;
}

// As `dots_and_sum`, of any width: in two passes over the rows, the second by panels.
INLINE Vec<double, G> dots_then_sum(const float* left, const Stretch& of, float* out) {
  const i64 width = of.table.shape[1];
  float ratios[STRETCH + G];
  Vec<double, G> logs{};
  for (i64 i = 0; i < of.n; i += G) {
    const float *at[G], *next[G];
    const auto values = together(of, i, at);
    UNROLL for (int g = 0; g < G; g++) next[g] = of.row(least(i + g + AHEAD, of.last));
    Lane dots[G] = {};
    for (i64 k = 0; k < width; k += LF) UNROLL for (int g = 0; g < G; g++) {
        __builtin_prefetch(next[g] + k);
        dots[g] += load<LF>(left + k) * load<LF>(at[g] + k);
      }
    store(ratios + i, divided(values, dots, logs));
  }
  weighted_sum(ratios, of, out);
  return logs;
}

}  // namespace

// out = np.where(values * scale[:, None] < NEVER, 0, values * scale[:, None]), before the padding:
// products of tiny numbers would be subnormal, and a hundred times slower.
void fill_table(Matrix values, Reals scale, FloatMatrixOut out) {
  for (i64 r = 0; r < values.size(); r++) {
    const double factor = scale[r];
    const double* __restrict from = values.row(r);
    float* __restrict to = out.row(r);
    for (i64 k = 0; k < values.shape[1]; k++) {
      const double value = from[k] * factor;
      to[k] = float(value >= NEVER ? value : 0.0);
    }
  }
}

void sparse_pass(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix left,
                 FloatMatrix right, MatrixOut out, RealsOut fit) {
  for (i64 r = part.first; r < part.second; r++) fit[r] = 0.0;
  auto pass = [&](auto sum) INLINE_LAMBDA {
    over_stretches(indptr, columns, values, part, right, out,
                   [&](i64 r, const Stretch& of, float* sums) {
                     const Vec<double, G> logs = sum(left.row(r), of, sums);
                     fit[r] += (logs[0] + logs[1]) + (logs[2] + logs[3]);
                   });
  };
  if (right.shape[1] > NARROW)
    return pass([](auto... arguments) INLINE_LAMBDA { return dots_then_sum(arguments...); });
  with_width<16, 32, 48, 64, 80, 96, 112, 128>(right.shape[1], [&](auto w) {
    constexpr int N = decltype(w)::value / LF;
    pass([](auto... arguments) INLINE_LAMBDA { return dots_and_sum<N>(arguments...); });
  });
}

// out[rows] = matrix[rows] @ right: rows of the matrix are read once for all columns.
void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out) {
  over_stretches(indptr, columns, values, part, right, out,
                 [&](i64, const Stretch& of, float* sums) { weighted_sum(of.values, of, sums); });
}

}  // namespace cohmm::COHMM_LEVEL
