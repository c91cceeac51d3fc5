/* The pass over the non-zeros, written by hand: the yardstick of benchmarks/sparse_pass.py.

   For every row r and its non-zeros (c, v): p = left[r] . right[c], out[r] += v / p * right[c].
   Tables have `width` columns, a multiple of 16 up to 128; rows are shared out to threads. */
#include <immintrin.h>
#include <stdint.h>

#define PASS(V)                                                                              \
  static void pass_##V(int64_t n, const int64_t *indptr, const int32_t *columns,            \
                       const float *values, const float *left, const float *right,          \
                       float *out) {                                                         \
    const int width = 16 * V;                                                                \
    _Pragma("omp parallel for schedule(dynamic, 64)") for (int64_t r = 0; r < n; r++) {     \
      __m512 row[V], sum[V];                                                                 \
      for (int v = 0; v < V; v++) {                                                          \
        row[v] = _mm512_loadu_ps(left + r * width + 16 * v);                                 \
        sum[v] = _mm512_setzero_ps();                                                        \
      }                                                                                      \
      int64_t i = indptr[r], end = indptr[r + 1];                                            \
      for (; i + 4 <= end; i += 4) {                                                         \
        const float *b[4];                                                                   \
        __m512 dot[4];                                                                       \
        float factor[4];                                                                     \
        for (int g = 0; g < 4; g++) {                                                        \
          b[g] = right + (int64_t)columns[i + g] * width;                                    \
          dot[g] = _mm512_mul_ps(row[0], _mm512_loadu_ps(b[g]));                             \
        }                                                                                    \
        for (int v = 1; v < V; v++)                                                          \
          for (int g = 0; g < 4; g++)                                                        \
            dot[g] = _mm512_fmadd_ps(row[v], _mm512_loadu_ps(b[g] + 16 * v), dot[g]);        \
        for (int g = 0; g < 4; g++) factor[g] = values[i + g] / _mm512_reduce_add_ps(dot[g]); \
        for (int g = 0; g < 4; g++) {                                                        \
          __m512 f = _mm512_set1_ps(factor[g]);                                              \
          for (int v = 0; v < V; v++)                                                        \
            sum[v] = _mm512_fmadd_ps(f, _mm512_loadu_ps(b[g] + 16 * v), sum[v]);             \
        }                                                                                    \
      }                                                                                      \
      for (; i < end; i++) {                                                                 \
        const float *b = right + (int64_t)columns[i] * width;                                \
        __m512 dot = _mm512_setzero_ps();                                                    \
        for (int v = 0; v < V; v++) dot = _mm512_fmadd_ps(row[v], _mm512_loadu_ps(b + 16 * v), dot); \
        __m512 f = _mm512_set1_ps(values[i] / _mm512_reduce_add_ps(dot));                    \
        for (int v = 0; v < V; v++) sum[v] = _mm512_fmadd_ps(f, _mm512_loadu_ps(b + 16 * v), sum[v]); \
      }                                                                                      \
      for (int v = 0; v < V; v++) _mm512_storeu_ps(out + r * width + 16 * v, sum[v]);        \
    }                                                                                        \
  }

PASS(1) PASS(2) PASS(3) PASS(4) PASS(5) PASS(6) PASS(7) PASS(8)

int sparse_pass(int64_t n, int width, const int64_t *indptr, const int32_t *columns,
                const float *values, const float *left, const float *right, float *out) {
  switch (width / 16) {
#define CASE(V) case V: pass_##V(n, indptr, columns, values, left, right, out); return 0;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
  }
  return 1;
}
