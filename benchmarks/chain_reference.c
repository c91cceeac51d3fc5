/* Forward, expected counts and Viterbi, written by hand: the yardstick of benchmarks/inference.py.

   The number of states K is fixed when this is compiled (-DK=20).  Eight blocks of the data run
   side by side, a small matrix product whose accumulators stay in registers; a block is entered by
   a warm-up of WARM symbols, which nothing checks.  No missing symbols, no fallback for underflow.
   Tables have W columns, padded with impossible states.  Vector extensions of GCC and clang: they
   compile for any machine, and to AVX-512 where there is one.

   Blocks are [first[b], last[b]); start[b] says whether the sequence begins there, end[b] whether it
   ends there.  Their number is a multiple of eight (empty ones fill up), longest first. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#ifndef K
#define K 20
#endif
#define W (((K + 7) / 8) * 8)
#define GANG 8
#define WARM 128
#define CHUNK 32

typedef double v8 __attribute__((vector_size(64)));
typedef double v4 __attribute__((vector_size(32)));
typedef int64_t m8 __attribute__((vector_size(64)));
typedef double u8 __attribute__((vector_size(64), aligned(8)));
typedef double u4 __attribute__((vector_size(32), aligned(8)));

#define INLINE static inline __attribute__((always_inline))
#define LOAD8(p) (*(const u8 *)(p))
#define LOAD4(p) (*(const u4 *)(p))
#define ALL8(x) ((v8){0} + (x))
#define ALL4(x) ((v4){0} + (x))

INLINE v8 max8(v8 a, v8 b) {
#ifdef __AVX512F__
  return (v8)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
  m8 more = a > b;
  return (v8)(((m8)a & more) | ((m8)b & ~more));
#endif
}

INLINE v4 max4(v4 a, v4 b) {
#ifdef __AVX2__
  return (v4)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  v4 out;
  for (int i = 0; i < 4; i++) out[i] = a[i] > b[i] ? a[i] : b[i];
  return out;
#endif
}

/* The sums (or maxima) of eight vectors, in one. */
INLINE v8 across(const v8 *x, int largest) {
  v8 out;
#define BOTH(a, b) (largest ? max8(a, b) : (a) + (b))
  v8 y[4], z[2];
  const m8 l4 = {0, 1, 2, 3, 8, 9, 10, 11}, h4 = {4, 5, 6, 7, 12, 13, 14, 15};
  const m8 l2 = {0, 1, 4, 5, 8, 9, 12, 13}, h2 = {2, 3, 6, 7, 10, 11, 14, 15};
  const m8 l1 = {0, 2, 4, 6, 8, 10, 12, 14}, h1 = {1, 3, 5, 7, 9, 11, 13, 15};
  for (int i = 0; i < 4; i++)
    y[i] = BOTH(__builtin_shuffle(x[2 * i], x[2 * i + 1], l4),
                __builtin_shuffle(x[2 * i], x[2 * i + 1], h4));
  for (int i = 0; i < 2; i++)
    z[i] = BOTH(__builtin_shuffle(y[2 * i], y[2 * i + 1], l2),
                __builtin_shuffle(y[2 * i], y[2 * i + 1], h2));
  out = BOTH(__builtin_shuffle(z[0], z[1], l1), __builtin_shuffle(z[0], z[1], h1));
  return out;
}

/* Additions and maxima share units of some processors, multiplications do not: x * 1 + y is the sum,
   in a way that the compiler cannot see through. */
static volatile double unknown_one = 1.0;
#ifdef __AVX512F__
#define SUM8(x, one, y) (v8) _mm512_fmadd_pd((__m512d)(x), (__m512d)(one), (__m512d)(y))
#define SUM4(x, one, y) (v4) _mm256_fmadd_pd((__m256d)(x), (__m256d)(one), (__m256d)(y))
#else
#define SUM8(x, one, y) ((x) + (y))
#define SUM4(x, one, y) ((x) + (y))
#endif

/* One tile: `nv` whole vectors of columns and, with `half`, one of four, for all eight rows.
   out[b] is finished by FINISH(b, vector, column, width). */
#define PRODUCT(rows, stride, step, n, matrix, nv, half, largest, FINISH)                      \
  {                                                                                            \
    const v8 one8 = ALL8(one);                                                                 \
    const v4 one4 = ALL4(one);                                                                 \
    v8 acc[GANG][3];                                                                           \
    v4 acc4[GANG];                                                                             \
    _Pragma("GCC unroll 8") for (int b = 0; b < GANG; b++) {                                   \
      _Pragma("GCC unroll 3") for (int v = 0; v < nv; v++)                                     \
          acc[b][v] = ALL8(largest ? -INFINITY : 0.0);                                         \
      acc4[b] = ALL4(largest ? -INFINITY : 0.0);                                               \
    }                                                                                          \
    for (int i = 0; i < n; i++) {                                                              \
      v8 entry[3];                                                                             \
      v4 entry4;                                                                               \
      _Pragma("GCC unroll 3") for (int v = 0; v < nv; v++)                                     \
          entry[v] = LOAD8(matrix + (int64_t)i * W + column + 8 * v);                          \
      if (half) entry4 = LOAD4(matrix + (int64_t)i * W + column + 8 * nv);                     \
      _Pragma("GCC unroll 8") for (int b = 0; b < GANG; b++) {                                 \
        double x = (rows)[(int64_t)b * stride + (int64_t)i * step];                            \
        _Pragma("GCC unroll 3") for (int v = 0; v < nv; v++) acc[b][v] =                       \
            largest ? max8(SUM8(ALL8(x), one8, entry[v]), acc[b][v]) : acc[b][v] + ALL8(x) * entry[v];    \
        if (half)                                                                              \
          acc4[b] = largest ? max4(SUM4(ALL4(x), one4, entry4), acc4[b]) : acc4[b] + ALL4(x) * entry4;    \
      }                                                                                        \
    }                                                                                          \
    _Pragma("GCC unroll 8") for (int b = 0; b < GANG; b++) {                                   \
      _Pragma("GCC unroll 3") for (int v = 0; v < nv; v++)                                     \
          FINISH(b, acc[b][v], column + 8 * v, 8);                                             \
      if (half) FINISH(b, acc4[b], column + 8 * nv, 4);                                        \
    }                                                                                          \
  }

/* All columns of a product, in tiles of at most 24. */
#define COLUMNS (((K + 3) / 4) * 4)
#define LEFT (COLUMNS % 24)
#define WHOLE (COLUMNS / 24 * 24)
#define TILES(rows, stride, step, n, matrix, largest, FINISH)                                  \
  {                                                                                            \
    int column = 0;                                                                            \
    const double one = largest ? unknown_one : 1.0;                                            \
    for (; column < WHOLE; column += 24)                                                       \
      PRODUCT(rows, stride, step, n, matrix, 3, 0, largest, FINISH)                            \
    if (LEFT) PRODUCT(rows, stride, step, n, matrix, (LEFT / 8), (LEFT % 8 != 0), largest, FINISH) \
  }

typedef struct {
  const int32_t *y;
  int64_t first[GANG], n, waits[GANG];
  int start[GANG];
} gang_t;

/* Eight blocks with their warm-ups; they end together. */
static gang_t line_up(const int32_t *y, const int64_t *first, const int64_t *last, const int *start,
                      int64_t beyond) {
  gang_t g = {.y = y};
  for (int b = 0; b < GANG; b++) {
    g.start[b] = start[b];
    g.first[b] = first[b] - (start[b] ? 0 : (first[b] < WARM ? first[b] : WARM));
    int64_t length = last[b] + beyond - g.first[b];
    if (length > g.n) g.n = length;
  }
  for (int b = 0; b < GANG; b++) g.waits[b] = g.n - (last[b] + beyond - g.first[b]);
  return g;
}

#define ADD(v, w) (w == 8 ? (v8)(v) : (v8){(v)[0], (v)[1], (v)[2], (v)[3]})

/* u[t + 1] = (u[t] @ trans) * emit * f[t], f[t] = 1 / sum(u[t]); logs[b] grows from step from[b]. */
static void filter(const gang_t *g, const double *start, const double *trans, const double *emit,
                   double *u, int ring, double *f, const int64_t *from, double *logs) {
  v8 scale = ALL8(1.0), product = ALL8(1.0);
  int64_t latest = 0;
  for (int b = 0; b < GANG; b++) {
    if (g->waits[b] > latest) latest = g->waits[b];
    if (from[b] > latest) latest = from[b];
    for (int k = 0; k < W; k++) u[b * W + k] = k < K ? 1.0 / K : 0.0;
    logs[b] = 0;
  }
  for (int64_t t = 0; t < g->n; t++) {
    const double *in = u + (t % ring) * GANG * W;
    double *out = u + ((t + 1) % ring) * GANG * W;
    const double *e[GANG];
    for (int b = 0; b < GANG; b++)
      e[b] = emit + (int64_t)g->y[g->first[b] + (t >= g->waits[b] ? t - g->waits[b] : 0)] * W;
    v8 sums[GANG];
    for (int b = 0; b < GANG; b++) sums[b] = ALL8(0.0);
    if (f) *(u8 *)(f + t * GANG) = scale;
#define FINISH(b, v, c, w)                                                                    \
  if (w == 8) {                                                                               \
    v8 x = (*(v8 *)&(v)) * (LOAD8(e[b] + c) * ALL8(scale[b]));                                \
    *(u8 *)(out + b * W + c) = x;                                                             \
    sums[b] += x;                                                                             \
  } else {                                                                                    \
    v4 x = (*(v4 *)&(v)) * (LOAD4(e[b] + c) * ALL4(scale[b]));                                \
    *(u4 *)(out + b * W + c) = x;                                                             \
    sums[b] += (v8){x[0], x[1], x[2], x[3]};                                                  \
  }
    TILES(in, W, 1, K, trans, 0, FINISH)
#undef FINISH
    if (t <= latest)
      for (int b = 0; b < GANG; b++) {
        if (t == g->waits[b]) {
          double total = 0;
          const double *p = g->start[b] ? start : NULL;
          sums[b] = ALL8(0.0);
          for (int k = 0; k < K; k++) total += out[b * W + k] = e[b][k] * (p ? p[k] : 1.0 / K);
          sums[b][0] = total;
          if (f) f[t * GANG + b] = 1.0;
        }
        if (t == from[b]) product[b] = 1, logs[b] = 0;
      }
    v8 totals = across(sums, 0);
    product *= totals;
    m8 low = product < ALL8(1e-250);
    if (t <= latest || low[0] | low[1] | low[2] | low[3] | low[4] | low[5] | low[6] | low[7]) {
      for (int b = 0; b < GANG; b++) logs[b] += log(product[b]);
      product = ALL8(1.0);
    }
    scale = ALL8(1.0) / totals;
  }
  for (int b = 0; b < GANG; b++) logs[b] += log(product[b]);
  if (f) *(u8 *)(f + g->n * GANG) = scale;
}

static double *space(int64_t n) {
  void *p = NULL;
  if (posix_memalign(&p, 64, (size_t)n * sizeof(double))) abort();
  memset(p, 0, (size_t)n * sizeof(double));
  return p;
}

int64_t padded_states(void) { return W; }

double forward(int64_t n_blocks, const int32_t *y, const int64_t *first, const int64_t *last,
               const int *begins, const double *start, const double *trans, const double *emit) {
  double *u = space(2 * GANG * W), total = 0;
  for (int64_t g = 0; g < n_blocks; g += GANG) {
    gang_t gang = line_up(y, first + g, last + g, begins + g, 0);
    int64_t from[GANG];
    double logs[GANG];
    for (int b = 0; b < GANG; b++) from[b] = gang.waits[b] + first[g + b] - gang.first[b];
    filter(&gang, start, trans, emit, u, 2, NULL, from, logs);
    for (int b = 0; b < GANG; b++)
      if (last[g + b] > first[g + b]) total += logs[b];
  }
  free(u);
  return total;
}

/* starts (W), transitions (W x W, before they meet the probabilities), emissions (N x W). */
double expected_counts(int64_t n_blocks, const int32_t *y, const int64_t *first,
                       const int64_t *last, const int *begins, const int *ends, const double *start,
                       const double *trans, const double *back, const double *emit, double *starts,
                       double *transitions, double *emissions) {
  int64_t longest = 0;
  for (int64_t b = 0; b < n_blocks; b++)
    if (last[b] - first[b] > longest) longest = last[b] - first[b];
  longest += 2 * WARM;
  double *u = space((longest + 1) * GANG * W), *f = space((longest + 1) * GANG), total = 0;
  double *rows = space((CHUNK + 1) * GANG * W), kept[GANG * W];
  for (int64_t g = 0; g < n_blocks; g += GANG) {
    int64_t reach[GANG], from[GANG], own[GANG];
    for (int b = 0; b < GANG; b++) reach[b] = last[g + b] + (ends[g + b] ? 0 : WARM);
    gang_t gang = line_up(y, first + g, reach, begins + g, 0);
    double logs[GANG], dummy[GANG];
    int64_t n = gang.n, lowest = n;
    for (int b = 0; b < GANG; b++) {
      from[b] = gang.waits[b] + first[g + b] - gang.first[b];
      own[b] = from[b] + last[g + b] - first[g + b];
      if (last[g + b] > first[g + b] && from[b] < lowest) lowest = from[b];
    }
    filter(&gang, start, trans, emit, u, longest + 1, f, from, dummy);
    for (int b = 0; b < GANG; b++) { /* the log-likelihood of its own symbols alone */
      logs[b] = 0;
      double product = 1;
      for (int64_t t = from[b] + 1; t <= own[b]; t++) {
        product *= f[t * GANG + b];
        if (product > 1e250) logs[b] -= log(product), product = 1;
      }
      if (last[g + b] > first[g + b]) total += logs[b] - log(product);
    }
    for (int64_t top = n; top > lowest;) {
      int64_t bottom = top - CHUNK > lowest ? top - CHUNK : lowest;
      if (top < n) memcpy(rows + (top - bottom) * GANG * W, kept, sizeof kept);
      for (int64_t t = top - 1; t >= bottom; t--) {
        const double *in = rows + (t + 1 - bottom) * GANG * W, *past = u + (t + 1) * GANG * W;
        double *out = rows + (t - bottom) * GANG * W, *into[GANG];
        const double *e[GANG];
        static double nowhere[W] __attribute__((aligned(64)));
        for (int b = 0; b < GANG; b++) {
          int64_t symbol = y[gang.first[b] + (t >= gang.waits[b] ? t - gang.waits[b] : 0)];
          e[b] = emit + symbol * W;
          into[b] = t >= from[b] && t < own[b] ? emissions + symbol * W : nowhere;
        }
        v8 scale = LOAD8(f + t * GANG);
#define FINISH(b, v, c, w)                                                                    \
  if (w == 8) {                                                                               \
    v8 x = *(v8 *)&(v);                                                                       \
    *(u8 *)(out + b * W + c) = x * (LOAD8(e[b] + c) * ALL8(scale[b]));                        \
    *(u8 *)(into[b] + c) = LOAD8(into[b] + c) + x * LOAD8(past + b * W + c);                  \
  } else {                                                                                    \
    v4 x = *(v4 *)&(v);                                                                       \
    *(u4 *)(out + b * W + c) = x * (LOAD4(e[b] + c) * ALL4(scale[b]));                        \
    *(u4 *)(into[b] + c) = LOAD4(into[b] + c) + x * LOAD4(past + b * W + c);                  \
  }
        if (t < n - 1)
          TILES(in, W, 1, K, back, 0, FINISH)
        else
          for (int b = 0; b < GANG; b++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += past[b * W + k];
            for (int k = 0; k < K; k++) {
              into[b][k] += past[b * W + k] / sum;
              out[b * W + k] = e[b][k] * scale[b] / sum;
            }
          }
#undef FINISH
        for (int b = 0; b < GANG; b++)
          if (t == from[b]) {
            if (gang.start[b])
              for (int k = 0; k < K; k++) {
                starts[k] += last[g + b] > first[g + b] ? start[k] * out[b * W + k] : 0;
                out[b * W + k] = 0;
              }
          } else if (t == from[b] - 1) {
            memset(out + b * W, 0, W * sizeof(double));
          }
      }
      memcpy(kept, rows, sizeof kept);
      for (int b = 0; b < GANG; b++) /* outside its own symbols a block adds nothing */
        for (int64_t t = top - 1; t >= bottom && t >= own[b]; t--)
          memset(rows + ((t - bottom) * GANG + b) * W, 0, W * sizeof(double));
      for (int row = 0; row < W; row += GANG) {
        const double *left = u + bottom * GANG * W + row;
#define FINISH(b, v, c, w)                                                                    \
  if (w == 8)                                                                                 \
    *(u8 *)(transitions + (row + b) * W + c) += *(v8 *)&(v);                                  \
  else                                                                                        \
    *(u4 *)(transitions + (row + b) * W + c) += *(v4 *)&(v);
        TILES(left, 1, W, (int)(top - bottom) * GANG, rows, 0, FINISH)
#undef FINISH
      }
      top = bottom;
    }
  }
  free(u), free(f), free(rows);
  return total;
}

/* The best path; its score is left to the caller. */
void viterbi(int64_t n_blocks, const int32_t *y, const int64_t *first, const int64_t *last,
             const int *begins, const int *ends, const double *start, const double *trans,
             const double *back, const double *emit, int32_t *states) {
  int64_t longest = 0;
  for (int64_t b = 0; b < n_blocks; b++)
    if (last[b] - first[b] > longest) longest = last[b] - first[b];
  double *u = space((longest + 2 * WARM + 1) * GANG * W);
  for (int64_t g = 0; g < n_blocks; g += GANG) {
    int64_t reach[GANG], state[GANG], latest = 0;
    for (int b = 0; b < GANG; b++) reach[b] = last[g + b] + (ends[g + b] ? 0 : WARM);
    gang_t gang = line_up(y, first + g, reach, begins + g, 0);
    for (int i = 0; i < GANG * W; i++) u[i] = 0;
    for (int b = 0; b < GANG; b++)
      if (gang.waits[b] > latest) latest = gang.waits[b];
    for (int64_t t = 0; t < gang.n; t++) {
      const double *in = u + t * GANG * W, *e[GANG];
      double *out = u + (t + 1) * GANG * W;
      v8 best[GANG];
      for (int b = 0; b < GANG; b++) {
        int64_t symbol = y[gang.first[b] + (t >= gang.waits[b] ? t - gang.waits[b] : 0)];
        e[b] = emit + symbol * W;
        best[b] = ALL8(-INFINITY);
      }
#define FINISH(b, v, c, w)                                                                    \
  if (w == 8) {                                                                               \
    v8 x = (*(v8 *)&(v)) + LOAD8(e[b] + c);                                                   \
    *(u8 *)(out + b * W + c) = x;                                                             \
    best[b] = max8(best[b], x);                                                               \
  } else {                                                                                    \
    v4 x = (*(v4 *)&(v)) + LOAD4(e[b] + c);                                                   \
    *(u4 *)(out + b * W + c) = x;                                                             \
    best[b] = max8(best[b], (v8){x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3]});            \
  }
      TILES(in, W, 1, K, trans, 1, FINISH)
#undef FINISH
      if (t <= latest)
        for (int b = 0; b < GANG; b++)
          if (t == gang.waits[b])
            for (int k = 0; k < K; k++) out[b * W + k] = e[b][k] + (gang.start[b] ? start[k] : 0);
      v8 tops = across(best, 1);
      m8 low = tops < ALL8(-512.0);
      if (low[0] | low[1] | low[2] | low[3] | low[4] | low[5] | low[6] | low[7])
        for (int b = 0; b < GANG; b++)
          if (low[b] && t > gang.waits[b])
            for (int k = 0; k < K; k++) out[b * W + k] -= tops[b];
    }
    for (int b = 0; b < GANG; b++) {
      const double *row = u + (gang.n * GANG + b) * W;
      state[b] = 0;
      for (int k = 1; k < K; k++)
        if (row[k] > row[state[b]]) state[b] = k;
    }
    for (int64_t t = gang.n - 1; t >= 0; t--)
      for (int b = 0; b < GANG; b++) {
        int64_t place = gang.first[b] + t - gang.waits[b];
        if (t < gang.waits[b] || place < first[g + b]) continue;
        if (t < gang.n - 1) {
          const double *row = u + ((t + 1) * GANG + b) * W, *to = back + state[b] * W;
          double scores[W] __attribute__((aligned(64)));
          v8 top = ALL8(-INFINITY);
          for (int k = 0; k < COLUMNS / 8 * 8; k += 8) {
            v8 x = LOAD8(row + k) + LOAD8(to + k);
            *(u8 *)(scores + k) = x;
            top = max8(top, x);
          }
          double highest = -INFINITY;
          for (int k = COLUMNS / 8 * 8; k < K; k++) {
            scores[k] = row[k] + to[k];
            if (scores[k] > highest) highest = scores[k];
          }
#ifdef __AVX512F__
          double vector = COLUMNS >= 8 ? _mm512_reduce_max_pd((__m512d)top) : -INFINITY;
#else
          double vector = -INFINITY;
          for (int i = 0; i < 8; i++)
            if (top[i] > vector) vector = top[i];
#endif
          if (vector > highest) highest = vector;
          int k = 0;
#ifdef __AVX512F__
          for (; k < COLUMNS / 8 * 8; k += 8) {
            __mmask8 same = _mm512_cmp_pd_mask(_mm512_loadu_pd(scores + k), _mm512_set1_pd(highest), _CMP_EQ_OQ);
            if (same) { k += __builtin_ctz(same); break; }
          }
          if (k >= COLUMNS / 8 * 8)
#endif
            while (scores[k] != highest) k++;
          state[b] = k;
        }
        if (place < last[g + b]) states[place] = (int32_t)state[b];
      }
  }
  free(u);
}
