// From which topic to which the words of documents go, by their sticky chains.
//
// With alpha, u, p and switch as in document_chains.hpp, word t - 1 has topic i and word t topic j
// with the probability
//
//     xi_t(i, j) = alpha_{t-1}(i) ((1 - switch) [i = j] + switch p_j) u_t(j)
//
// of which the first part is a diagonal and the second an outer product.  Outer products of four
// words are added together: the table is then read and written a quarter as often.
#include "document_chains.hpp"

namespace cohmm {
namespace COHMM_LEVEL {
namespace {

constexpr int TOGETHER = 4;

// moves += sum_w outer(from[w], into[w])
INLINE void add_products(const double* const* from, const double* into, i64 n, double* moves) {
  for (i64 i = 0; i < n; i++) {
    const double a = from[0][i], b = from[1][i], c = from[2][i], d = from[3][i];
    double* move = moves + i * n;
    over_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
      constexpr int N = decltype(w)::value;
      put(move + k,
          at<N>(move + k) + ((a * at<N>(into + k) + b * at<N>(into + n + k)) +
                             (c * at<N>(into + 2 * n + k) + d * at<N>(into + 3 * n + k))));
    });
  }
}

// The way back through one document, whose alpha are those of forward.
INLINE void add_moves(Sticky& chain, Words words, double weight, const double* alpha,
                      const double* scales, double* into, double* moves) {
  const i64 n = chain.n;
  double *p = chain.p.data, *beta = chain.beta.data, *u = chain.u.data;
  const double stay = chain.stay, again = chain.again;
  const double* from[TOGETHER];
  int waiting = 0;
  for (i64 k = 0; k < n; k++) beta[k] = 1.0;
  for (i64 t = words.size - 1; t > 0; t--) {
    const double *row = chain.emission.row(words[t]), *before = alpha + (t - 1) * n;
    const double inverse = 1.0 / scales[t];
    double* to = into + waiting * n;
    const double jump = again * sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
                          constexpr int N = decltype(w)::value;
                          const auto x = at<N>(row + k) * at<N>(beta + k) * inverse,
                                     px = at<N>(p + k) * x;
                          put(u + k, x);
                          put(to + k, px * (weight * again));
                          return px;
                        });
    over_columns(
        n, [&](i64 k, auto w) INLINE_LAMBDA { put(beta + k, stay * at<w.value>(u + k) + jump); });
    for (i64 k = 0; k < n; k++) moves[k * n + k] += weight * stay * before[k] * u[k];
    from[waiting++] = before;
    if (waiting == TOGETHER || t == 1) {
      for (; waiting < TOGETHER; waiting++) {
        from[waiting] = before;
        for (i64 k = 0; k < n; k++) into[waiting * n + k] = 0.0;
      }
      add_products(from, into, n, moves);
      waiting = 0;
    }
  }
}

}  // namespace

void count_moves(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& shared, i64 sweeps, MatrixOut moves) {
  Sticky chain(shared);
  const i64 n = chain.n, length = longest(offsets, part);
  Buffer<double> alpha(length * n), scales(length), into(TOGETHER * n);
  for (i64 d = part.first; d < part.last; d++) {
    const Words words = words_of(symbols, offsets[d], offsets[d + 1]);
    if (words.size < 2 || weights[d] == 0.0) continue;
    chain.begin();
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
      chain.forward(words, alpha.data, scales.data);
      chain.expected(words, alpha.data, scales.data);
      chain.em_update();
    }
    chain.forward(words, alpha.data, scales.data);
    add_moves(chain, words, weights[d], alpha.data, scales.data, into.data, moves.data);
  }
}

}  // namespace COHMM_LEVEL
}  // namespace cohmm
