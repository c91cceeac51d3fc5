// The E-step of sticky chains: which topic is expected to have emitted each word, and from which
// topic to which the words go,
//
//     counts[w_t] += weight * gamma_t;  moves += weight * xi_t
//
// With alpha, u, p and switch as in document_chains.hpp, word t - 1 has topic i and word t topic j
// with the probability
//
//     xi_t(i, j) = alpha_{t-1}(i) ((1 - switch) [i = j] + switch p_j) u_t(j)
//
// of which the first part is a diagonal and the second an outer product.  Outer products of four
// words are added together: the table is then read and written a quarter as often.
#include "document_chains.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr int TOGETHER = 4;

// moves += sum_w outer(from[w], into[w])
INLINE void add_products(const double* const* from, const double* into, i64 n, double* moves) {
  for (i64 i = 0; i < n; i++) {
    const double w = from[0][i], x = from[1][i], y = from[2][i], z = from[3][i];
    double* move = moves + i * n;
    over_columns(n, [&](auto at) INLINE_LAMBDA {
      at.set(move, at(move) + ((w * at(into) + x * at(into + n)) +
                               (y * at(into + 2 * n) + z * at(into + 3 * n))));
    });
  }
}

// The backward pass through one document, whose alpha are those of forward.
INLINE void add_moves(Sticky& chain, Symbols words, double weight, double* alpha,
                      const double* scales, double* into, double* moves) {
  const i64 n = chain.n;
  const double* from[TOGETHER];
  int waiting = 0;
  chain.backward<false>(words, alpha, scales, [&](i64 t) {
    if (t == 0) return;
    const double* before = alpha + (t - 1) * n;
    double* to = into + waiting * n;
    for (i64 k = 0; k < n; k++) {
      to[k] = chain.p[k] * chain.u[k] * (weight * chain.again);
      moves[k * n + k] += weight * chain.stay * before[k] * chain.u[k];
    }
    from[waiting++] = before;
    if (waiting < TOGETHER && t > 1) return;
    for (; waiting < TOGETHER; waiting++) {
      from[waiting] = before;
      for (i64 k = 0; k < n; k++) into[waiting * n + k] = 0.0;
    }
    add_products(from, into, n, moves);
    waiting = 0;
  });
}

}  // namespace

void count_words(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& shared, i64 sweeps, MatrixOut proportions, MatrixOut counts,
                 RealsOut totals) {
  Sticky chain{shared};
  const i64 n = chain.n, length = longest(offsets, part);
  Buffer<double> alpha(length * n), scales(length);
  for (i64 d = part.first; d < part.second; d++) {
    const Symbols words = symbols.slice(offsets[d], offsets[d + 1]);
    const double weight = weights[d];
    if (words.size() == 0 || weight == 0.0) continue;
    double *own = proportions.row(d - part.first), log_likelihood = 0.0;
    for (i64 k = 0; k < n; k++) chain.p[k] = own[k];
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
      chain.forward(words, alpha, scales);
      if (sweep < sweeps - 1) chain.expected(words, alpha, scales);
      else chain.posteriors(words, alpha, scales);
      chain.em_update();
    }
    for (i64 k = 0; k < n; k++) own[k] = chain.p[k];
    for (i64 t = 0; t < words.size(); t++) {
      add_times(weight, alpha + t * n, counts.row(words[t]), n);
      log_likelihood += std::log(scales[t]);
    }
    totals[0] += weight * (total_of(chain.drawn, n) - 1.0);
    totals[1] += weight * double(words.size() - 1);
    totals[2] += weight * log_likelihood;
    totals[3] += weight * double(words.size());
  }
}

void count_moves(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& shared, i64 sweeps, MatrixOut moves) {
  Sticky chain{shared};
  const i64 n = chain.n, length = longest(offsets, part);
  Buffer<double> alpha(length * n), scales(length), into(TOGETHER * n);
  for (i64 d = part.first; d < part.second; d++) {
    const Symbols words = symbols.slice(offsets[d], offsets[d + 1]);
    if (words.size() < 2 || weights[d] == 0.0) continue;
    chain.begin();
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
      chain.forward(words, alpha, scales);
      chain.expected(words, alpha, scales);
      chain.em_update();
    }
    chain.forward(words, alpha, scales);
    add_moves(chain, words, weights[d], alpha, scales, into, moves.data);
  }
}

}  // namespace cohmm::COHMM_LEVEL
