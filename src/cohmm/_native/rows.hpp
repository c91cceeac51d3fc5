// Rows of any number of doubles: whole vectors, then single elements.
//
// Sums have one order, whatever the addresses of the rows: what the compiler vectorises by itself
// may begin with single elements up to a boundary, and the last bit of a sum would depend on where
// memory happened to be free.
#pragma once
#include "simd.hpp"

namespace cohmm {
namespace COHMM_LEVEL {
namespace {

template <int N>
INLINE auto at(const double* p) {
  if constexpr (N == 1) return *p;
  else return load<N>(p);
}
template <class V>
INLINE void put(double* p, V v) {
  if constexpr (sizeof(V) == sizeof(double)) *p = v;
  else store(p, v);
}

// f(k, Width<N>) for columns k to k + N, until n.
template <class F>
INLINE void over_columns(i64 n, F f) {
  i64 k = 0;
  for (; k + L <= n; k += L) f(k, Width<L>{});
  for (; k < n; k++) f(k, Width<1>{});
}

// The sum of f(k, Width<N>) over all columns, in eight parts.
template <class F>
INLINE double sum_columns(i64 n, F f) {
  constexpr int U = 8 / L;
  Vec<double, L> sum[U] = {};
  i64 k = 0;
  for (; k + 8 <= n; k += 8) UNROLL for (int u = 0; u < U; u++) sum[u] += f(k + u * L, Width<L>{});
  UNROLL for (int u = 0; u < U - 1; u++) if (k + L <= n) sum[u] += f(k, Width<L>{}), k += L;
  UNROLL for (int half = U / 2; half > 0; half /= 2) UNROLL for (int u = 0; u < half; u++) sum[u] +=
      sum[u + half];
  double total = over_elements(sum[0], Sum{});
  for (; k < n; k++) total += f(k, Width<1>{});
  return total;
}

// Two sums at a time: f gives both terms.
template <class V>
struct Two {
  V a, b;
};
template <class V>
Two(V, V) -> Two<V>;

template <class F>
INLINE Two<double> two_sums(i64 n, F f) {
  Vec<double, L> a{}, b{};
  i64 k = 0;
  for (; k + L <= n; k += L) {
    const auto term = f(k, Width<L>{});
    a += term.a;
    b += term.b;
  }
  Two<double> total{over_elements(a, Sum{}), over_elements(b, Sum{})};
  for (; k < n; k++) {
    const auto term = f(k, Width<1>{});
    total.a += term.a;
    total.b += term.b;
  }
  return total;
}

// np.maximum(x, floor)
template <class V>
INLINE V at_least(V x, double floor) {
  if constexpr (sizeof(V) == sizeof(double)) return x > floor ? x : floor;
  else return larger(x, splat<V>(floor));
}

// x.sum()
INLINE double total_of(const double* x, i64 n) {
  return sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA { return at<w.value>(x + k); });
}

// x @ y
INLINE double dot(const double* x, const double* y, i64 n) {
  return sum_columns(
      n, [&](i64 k, auto w) INLINE_LAMBDA { return at<w.value>(x + k) * at<w.value>(y + k); });
}

// x *= factor
INLINE void scale(double* x, double factor, i64 n) {
  over_columns(n, [&](i64 k, auto w) INLINE_LAMBDA { put(x + k, at<w.value>(x + k) * factor); });
}

// y += factor * x
INLINE void add_times(double factor, const double* x, double* y, i64 n) {
  over_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
    put(y + k, at<w.value>(y + k) + factor * at<w.value>(x + k));
  });
}

// out = sum_i x[i] row(i), m rows of n columns, in panels of columns whose sums stay in registers.
template <class Row>
INLINE void weighted_rows(const double* x, Row row, i64 m, i64 n, double* out) {
  auto panel = [&](i64 k, auto w) INLINE_LAMBDA {
    constexpr int V = decltype(w)::value;
    Vec<double, L> sum[V] = {};
    for (i64 i = 0; i < m; i++)
      UNROLL for (int v = 0; v < V; v++) sum[v] += x[i] * load<L>(row(i) + k + v * L);
    UNROLL for (int v = 0; v < V; v++) store(out + k + v * L, sum[v]);
  };
  i64 k = 0;
  for (; k + 8 * L <= n; k += 8 * L) panel(k, Width<8>{});
  if (k + 4 * L <= n) panel(k, Width<4>{}), k += 4 * L;
  if (k + 2 * L <= n) panel(k, Width<2>{}), k += 2 * L;
  if (k + L <= n) panel(k, Width<1>{}), k += L;
  for (; k < n; k++) {
    double sum = 0.0;
    for (i64 i = 0; i < m; i++) sum += x[i] * row(i)[k];
    out[k] = sum;
  }
}

// out = x @ table, (m, n)
INLINE void row_times(const double* x, const double* table, i64 m, i64 n, double* out) {
  weighted_rows(x, [&](i64 i) INLINE_LAMBDA { return table + i * n; }, m, n, out);
}

}  // namespace
}  // namespace COHMM_LEVEL
}  // namespace cohmm
