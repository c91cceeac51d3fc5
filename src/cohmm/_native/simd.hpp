// Vectors of the machine's own width, and rows of a tile that are made of them.
//
// Everything is in an anonymous namespace or always inlined: what one instruction set compiles
// must never be taken by the linker for what another one calls.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "arrays.hpp"
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define UNROLL _Pragma("GCC unroll 32")
#define INLINE_LAMBDA __attribute__((always_inline))

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();
#if defined(__AVX512F__)
constexpr int L = 8;          // doubles in a vector
constexpr int TILE_ROWS = 8;  // with so many rows, tiles of up to WIDEST columns stay in registers
constexpr int WIDEST = 24;
#elif defined(__AVX__)
constexpr int L = 4, TILE_ROWS = 4, WIDEST = 12;
#elif defined(__aarch64__)
constexpr int L = 2, TILE_ROWS = 4, WIDEST = 8;
#else
constexpr int L = 2, TILE_ROWS = 4, WIDEST = 4;
#endif

template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T loose __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T, int N>
using Vec = typename VectorOf<T, N>::type;

template <int N, class T>
INLINE Vec<T, N> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T, N>::loose*>(p);
}
template <class V, class T>
INLINE void store(T* p, V v) {
  *reinterpret_cast<typename VectorOf<T, sizeof(V) / sizeof(T)>::loose*>(p) = v;
}
template <class V, class T>
INLINE V splat(T x) {
  return x - V{};
}

// GCC 12 does not make one instruction of a > b ? a : b on vectors.
template <class V>
INLINE V larger(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return (V)_mm512_max_pd((__m512d)a, (__m512d)b);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) return (V)_mm256_max_pd((__m256d)a, (__m256d)b);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16) return (V)_mm_max_pd((__m128d)a, (__m128d)b);
#endif
#if !defined(__SSE2__)
  return a > b ? a : b;
#endif
}

// a + b.  Additions and maxima wait for the same units of some processors, multiplications do not:
// a * one + b is exactly the sum, where the compiler cannot know that `one` is 1.
template <class V>
INLINE V sum(V a, [[maybe_unused]] V one, V b) {
#if defined(__AVX512F__)
  return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)one, (__m512d)b);
#else
  return a + b;
#endif
}

// Natural logarithms.  The exponent is read off the bits, above so many of the mantissa, and the
// logarithm of what remains, in [sqrt(1/2), sqrt(2)), is a series in z = (x - 1) / (x + 1), good to
// 2e-8 with 4 terms, and to 2e-17 with 10.
template <class Bits, int MANTISSA, int TERMS, class V>
INLINE V logarithms(V p) {
  using I = Vec<Bits, sizeof(V) / sizeof(Bits)>;
  using Real = std::remove_reference_t<decltype(p[0])>;
  constexpr Bits root_half = sizeof(Bits) == 4 ? 0x3F3504F3 : 0x3FE6A09E667F3BCD;
  const I shifted = (I)p - root_half;
  const V x = (V)((shifted & ((Bits(1) << MANTISSA) - 1)) + root_half);
  const V z = (x - Real(1)) / (x + Real(1)), z2 = z * z;
  V series{};
  UNROLL for (int k = TERMS - 1; k >= 0; k--) series = series * z2 + Real(2.0 / (2 * k + 1));
  return __builtin_convertvector(shifted >> MANTISSA, V) * Real(0.69314718055994531) + z * series;
}

constexpr auto add = [](auto a, auto b) INLINE_LAMBDA { return a + b; };
constexpr auto maximum = [](auto a, auto b) INLINE_LAMBDA {
  if constexpr (sizeof a == sizeof(double)) return a > b ? a : b;
  else return larger(a, b);
};

template <class V, class F>
INLINE double over_elements(V v, F f) {
  if constexpr (sizeof(V) == 64)
    return over_elements(
        f(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)), f);
  else if constexpr (sizeof(V) == 32)
    return over_elements(
        f(__builtin_shufflevector(v, v, 0, 1), __builtin_shufflevector(v, v, 2, 3)), f);
  else return f(double(v[0]), double(v[1]));
}

// W columns, in whole vectors.
template <int W>
struct Row {
  static constexpr int N = W / L;
  Vec<double, L> v[N];

  static INLINE Row all(double x) {
    Row r;
    UNROLL for (int i = 0; i < N; i++) r.v[i] = splat<Vec<double, L>>(x);
    return r;
  }
  static INLINE Row from(const double* p) {
    Row r;
    UNROLL for (int i = 0; i < N; i++) r.v[i] = load<L>(p + i * L);
    return r;
  }
  INLINE void to(double* p) const { UNROLL for (int i = 0; i < N; i++) store(p + i * L, v[i]); }
  INLINE Row operator*(const Row& o) const {
    Row r;
    UNROLL for (int i = 0; i < N; i++) r.v[i] = v[i] * o.v[i];
    return r;
  }
  INLINE Row operator+(const Row& o) const {
    Row r;
    UNROLL for (int i = 0; i < N; i++) r.v[i] = v[i] + o.v[i];
    return r;
  }
  INLINE Row operator*(double x) const { return *this * all(x); }
  INLINE void add_product(const Row& x, const Row& o) {
    UNROLL for (int i = 0; i < N; i++) v[i] += x.v[i] * o.v[i];
  }
  INLINE void add_product(double x, const Row& o) { add_product(all(x), o); }
  INLINE void raise(double x, Vec<double, L> one, const Row& o) {
    const auto same = splat<Vec<double, L>>(x);
    UNROLL for (int i = 0; i < N; i++) v[i] = larger(sum(same, one, o.v[i]), v[i]);
  }
  INLINE void add_to(Vec<double, L>& total) const {
    UNROLL for (int i = 0; i < N; i++) total += v[i];
  }
};

template <int W>
struct Width {
  static constexpr int value = W;
};

// body(Width<n>), where n is one of N.
template <int... N, class F>
INLINE void with_width(i64 n, F body) {
  (void)((n == N && (body(Width<N>{}), true)) || ...);
}

INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most(i64 a, i64 b) { return a > b ? a : b; }

// body(first column, Width<columns>) for tiles of whole vectors that cover n columns.
template <class F>
INLINE void over_tiles(i64 n, F body) {
  constexpr int UNIT = L > 4 ? L : 4;
  n = (n + UNIT - 1) & -UNIT;
  for (i64 c = 0, w; c < n; c += w) {
    const i64 rest = n - c;
    w = least(rest, WIDEST);
    // Two middling tiles rather than a wide and a narrow one.
    if (L == 8 && (rest == 32 || rest == 40)) w = 16;
    with_width<4, 8, 12, 16, 24>(w, [&](auto width) INLINE_LAMBDA {
      constexpr int W = decltype(width)::value;
      if constexpr (W <= WIDEST && W % L == 0) body(c, width);
    });
  }
}

// Space to work in, at the beginning of a cache line.
template <class T>
struct Buffer {
  T* data;
  explicit Buffer(i64 n, T fill = T()) : data(new (std::align_val_t{64}) T[std::size_t(n)]) {
    for (i64 i = 0; i < n; i++) data[i] = fill;
  }
  ~Buffer() { ::operator delete[](data, std::align_val_t{64}); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  INLINE operator T*() const { return data; }
};

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
