// Rows of any number of doubles: whole vectors, then single elements.
//
// Sums have one order, whatever the addresses of the rows: what the compiler vectorises by itself
// may begin with single elements up to a boundary, and the last bit of a sum would depend on where
// memory happened to be free.
#pragma once
#include "simd.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

// Columns k to k + N of any row: a vector, or a single number.
template <int N>
struct Columns {
  i64 k;
  template <class T>
  static INLINE auto get(const T* p) {
    if constexpr (N == 1) return *p;
    else return load<N>(p);
  }
  template <class T, class V>
  static INLINE void put(T* p, V v) {
    if constexpr (N == 1) *p = v;
    else store(p, v);
  }
  INLINE auto operator()(const double* row) const { return get(row + k); }
  INLINE auto operator()(const i64* row) const { return get(row + k); }
  INLINE void set(double* row, auto v) const { put(row + k, v); }
  INLINE void set(i64* row, auto v) const { put(row + k, v); }
};

// f(columns) until n.
template <class F>
INLINE void over_columns(i64 n, F f) {
  i64 k = 0;
  for (; k + L <= n; k += L) f(Columns<L>{k});
  for (; k < n; k++) f(Columns<1>{k});
}

// Two sums at a time.
template <class V>
struct Two {
  V a, b;
  INLINE void operator+=(const Two& o) { a += o.a, b += o.b; }
};
template <class V>
Two(V, V) -> Two<V>;

template <class V>
INLINE Two<double> over_elements(const Two<V>& v, decltype(add) f) {
  return {over_elements(v.a, f), over_elements(v.b, f)};
}

// The sum of f(columns), a vector or Two of them, over all of n, in eight parts.
template <class F>
INLINE auto sum_columns(i64 n, F f) {
  constexpr int U = 8 / L;
  decltype(f(Columns<L>{0})) sum[U] = {};
  i64 k = 0;
  for (; k + 8 <= n; k += 8) UNROLL for (int u = 0; u < U; u++) sum[u] += f(Columns<L>{k + u * L});
  UNROLL for (int u = 0; u < U - 1; u++) if (k + L <= n) sum[u] += f(Columns<L>{k}), k += L;
  UNROLL for (int half = U / 2; half > 0; half /= 2) UNROLL for (int u = 0; u < half; u++) sum[u] +=
      sum[u + half];
  auto total = over_elements(sum[0], add);
  for (; k < n; k++) total += f(Columns<1>{k});
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
  return sum_columns(n, [&](auto at) INLINE_LAMBDA { return at(x); });
}

// x @ y
INLINE double dot(const double* x, const double* y, i64 n) {
  return sum_columns(n, [&](auto at) INLINE_LAMBDA { return at(x) * at(y); });
}

// out = x * y, which are summed
INLINE double multiply(const double* x, const double* y, double* out, i64 n) {
  return sum_columns(n, [&](auto at) INLINE_LAMBDA {
    const auto product = at(x) * at(y);
    at.set(out, product);
    return product;
  });
}

// x *= factor
INLINE void scale(double* x, double factor, i64 n) {
  over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(x, at(x) * factor); });
}

// y += factor * x
INLINE void add_times(double factor, const double* x, double* y, i64 n) {
  over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(y, at(y) + factor * at(x)); });
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
}  // namespace cohmm::COHMM_LEVEL
