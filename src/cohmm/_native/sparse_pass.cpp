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

// The exponent is read off the bits, and the logarithm of what remains, in [sqrt(1/2), sqrt(2)), is
// a series in z = (x - 1) / (x + 1), good to 2e-8 there.
template <int N>
INLINE Vec<float, N> logarithms(Vec<float, N> p) {
  using F = Vec<float, N>;
  using I = Vec<i32, N>;
  constexpr i32 root_half = 0x3F3504F3;
  I shifted = (I)p - root_half;
  F exponent = __builtin_convertvector(shifted >> 23, F);
  F x = (F)((shifted & 0x007FFFFF) + root_half);
  F z = (x - 1.0f) / (x + 1.0f), z2 = z * z;
  F series = 2.0f + z2 * (0.6666666667f + z2 * (0.4f + z2 * 0.2857142857f));
  return exponent * 0.6931471806f + z * series;
}

// p = right[columns] . row; sums += (values / p) @ right[columns]; returns values . log(p)
//
// N vectors in a row: rows are still in the nearest cache when they are needed again, and sums stay
// in registers.  The last non-zeros are filled up to four with some of value 0.
template <int N>
INLINE double dots_and_sum(const float* row, FloatMatrix right, const i32* columns,
                           const float* values, i64 n, i64 ahead, float* out) {
  constexpr int G = 4;
  Lane left[N], sum[N];
  UNROLL for (int v = 0; v < N; v++) left[v] = load<LF>(row + v * LF), sum[v] = Lane{};
  Vec<double, G> logs{};
  auto add = [&](const float* const* at, Vec<float, G> observed) INLINE_LAMBDA {
    Lane dots[G];
    UNROLL for (int g = 0; g < G; g++) dots[g] = left[0] * load<LF>(at[g]);
    UNROLL for (int v = 1; v < N; v++) UNROLL for (int g = 0; g < G; g++) dots[g] +=
        left[v] * load<LF>(at[g] + v * LF);
    Vec<float, G> expected = totals_of(dots), small = splat<Vec<float, G>>(FAINTEST);
    expected = expected > small ? expected : small;
    logs += __builtin_convertvector(observed * logarithms<G>(expected), Vec<double, G>);
    Vec<float, G> ratios = observed / expected;
    UNROLL for (int g = 0; g < G; g++) {
      Lane ratio = splat<Lane>(ratios[g]);
      UNROLL for (int v = 0; v < N; v++) sum[v] += ratio * load<LF>(at[g] + v * LF);
    }
  };
  const float* at[G];
  const i64 whole = n & -G;
  for (i64 i = 0; i < whole; i += G) {
    UNROLL for (int g = 0; g < G; g++) {
      at[g] = right.data + columns[i + g] * i64(N * LF);
      const float* next = right.data + columns[least(i + g + AHEAD, ahead)] * i64(N * LF);
      UNROLL for (int c = 0; c < N * LF; c += 16) __builtin_prefetch(next + c);
    }
    add(at, load<G>(values + i));
  }
  if (whole < n) {
    Vec<float, G> observed{};
    UNROLL for (int g = 0; g < G; g++) {
      at[g] = right.data + columns[whole + g < n ? whole + g : whole] * i64(N * LF);
      if (whole + g < n) observed[g] = values[whole + g];
    }
    add(at, observed);
  }
  UNROLL for (int v = 0; v < N; v++) store(out + v * LF, sum[v]);
  return (logs[0] + logs[1]) + (logs[2] + logs[3]);
}

// As `dots_and_sum`, of any width: in two passes over the rows, the second by panels.
INLINE double dots_then_sum(const float* row, FloatMatrix right, const i32* columns,
                            const float* values, i64 n, i64 ahead, float* out) {
  constexpr int G = 4;
  const i64 width = right.shape[1];
  const float* at[STRETCH + AHEAD];
  float ratios[STRETCH];
  rows_at(right, columns, n, ahead, at);
  double logs = 0.0;
  for (i64 i = 0; i < n; i += G) {
    Lane dots[G] = {};
    for (i64 k = 0; k < width; k += LF) {
      if (k % 16 == 0)
        UNROLL for (int g = 0; g < G; g++) __builtin_prefetch(at[least(i + g, n - 1) + AHEAD] + k);
      UNROLL for (int g = 0; g < G; g++) dots[g] += load<LF>(row + k) * load<LF>(at[i + g] + k);
    }
    Vec<float, G> expected = totals_of(dots), small = splat<Vec<float, G>>(FAINTEST);
    expected = expected > small ? expected : small;
    const Vec<float, G> log_p = logarithms<G>(expected);
    for (int g = 0; g < G && i + g < n; g++) {
      logs += double(values[i + g] * log_p[g]);
      ratios[i + g] = values[i + g] / expected[g];
    }
  }
  weighted_sum(ratios, at, n, width, out);
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
  const i64 width = right.shape[1], end = columns.size() - 1;
  for (i64 r = part.first; r < part.last; r++) fit[r] = 0.0;
  auto pass = [&](auto stretch) INLINE_LAMBDA {
    over_stretches(indptr, part, width, out, [&](i64 r, i64 first, i64 size, float* sums) {
      fit[r] += stretch(left.row(r), right, columns.data + first, values.data + first, size,
                        end - first, sums);
    });
  };
  if (width > NARROW)
    return pass([](auto... arguments) INLINE_LAMBDA { return dots_then_sum(arguments...); });
  with_width<16, 32, 48, 64, 80, 96, 112, 128>(width, [&](auto w) {
    constexpr int N = decltype(w)::value / LF;
    pass([](auto... arguments) INLINE_LAMBDA { return dots_and_sum<N>(arguments...); });
  });
}

// out[rows] = matrix[rows] @ right: rows of the matrix are read once for all columns.
void sparse_times(Indices indptr, Symbols columns, Floats values, Part part, FloatMatrix right,
                  MatrixOut out) {
  const i64 end = columns.size() - 1;
  const float* at[STRETCH + AHEAD];
  over_stretches(indptr, part, right.shape[1], out, [&](i64, i64 first, i64 n, float* sums) {
    rows_at(right, columns.data + first, n, end - first, at);
    weighted_sum(values.data + first, at, n, right.shape[1], sums);
  });
}

}  // namespace cohmm::COHMM_LEVEL
