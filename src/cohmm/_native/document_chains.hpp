// Chains over the words of documents, each with parameters of its own: forward, backward, Viterbi.
//
// Sticky: document d has topic proportions p.  Its first word's topic is drawn from p; each further
// word keeps the topic of the word before it with probability 1 - switch, or else has one drawn:
//
//     A = (1 - switch) I + switch 1 p'
//
// so that a step costs O(K).  Forward and backward, scaled:
//
//     alpha_t(k) ~ M[w_t, k] ((1 - switch) alpha_{t-1}(k) + switch p_k),       z_t its sum
//     beta_{t-1}(k) = (1 - switch) u_k + switch sum_j p_j u_j,     u = M[w_t] beta_t / z_t
//
// The posterior of word t is gamma_t = alpha_t beta_t; p_k u_k is the probability that its topic
// was drawn (first word), and switch p_k u_k that it was drawn again (further words), as topic k.
//
// Full: document d has a distribution of its first topic and an A of its own, whose rows have
// Dirichlet priors as well; a step costs O(K^2).
//
// Emissions, M, have one row per word and one column per topic, all above zero; so are priors and
// switch, and nothing underflows.
#pragma once
#include "arguments.hpp"
#include "rows.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

INLINE i64 longest(Indices offsets, Part part) {
  i64 length = 1;
  for (i64 d = part.first; d < part.second; d++) length = most(length, offsets[d + 1] - offsets[d]);
  return length;
}

// p = prior / prior.sum()
INLINE void mean_of(const double* prior, double* p, i64 n) {
  const double mass = total_of(prior, n);
  for (i64 k = 0; k < n; k++) p[k] = prior[k] / mass;
}

// p ~ prior + counts; returns the largest change.
INLINE double update(double* p, const double* prior, const double* counts, i64 n) {
  const double mass = total_of(prior, n) + total_of(counts, n);
  double largest = 0.0;
  for (i64 k = 0; k < n; k++) {
    const double value = (prior[k] + counts[k]) / mass, change = std::fabs(value - p[k]);
    largest = change > largest ? change : largest;
    p[k] = value;
  }
  return largest;
}

INLINE i64 first_largest(const double* x, i64 n) {
  i64 best = 0;
  for (i64 k = 1; k < n; k++)
    if (x[k] > x[best]) best = k;
  return best;
}

// The chains of documents that are sticky.
struct Sticky {
  using Back = u8;  // whether the topic of a word was drawn, on the best path to it
  const DocumentChain& shared;
  const double *prior = shared.prior.data, again = shared.switch_rate, stay = 1.0 - again;
  const i64 n = shared.prior.size();
  Buffer<double> p{n}, beta{n}, u{n}, drawn{n};

  void begin() { mean_of(prior, p, n); }
  const double* start() const { return p; }
  double em_update() { return update(p, prior, drawn, n); }

  // alpha[t] becomes P(topic | words up to t), scales[t] P(word t | those before).
  void forward(Symbols words, double* alpha, double* scales) const {
    for (i64 t = 0; t < words.size(); t++) {
      const double *row = shared.emission.row(words[t]), *before = alpha + (t - 1) * n;
      double* now = alpha + t * n;
      if (t == 0) scales[t] = multiply(row, p, now, n);
      else
        scales[t] = sum_columns(n, [&](auto at) INLINE_LAMBDA {
          const auto x = at(row) * (stay * at(before) + again * at(p));
          at.set(now, x);
          return x;
        });
      scale(now, 1.0 / scales[t], n);
    }
  }

  // drawn[k] becomes how often topic k is expected drawn; with POSTERIORS, alpha becomes gamma.
  // visit(t) sees u of every word.
  template <bool POSTERIORS, class Visit>
  INLINE void backward(Symbols words, double* alpha, const double* scales, Visit visit) {
    for (i64 k = 0; k < n; k++) beta[k] = 1.0, drawn[k] = 0.0;
    for (i64 t = words.size() - 1; t >= 0; t--) {
      const double *row = shared.emission.row(words[t]), inverse = 1.0 / scales[t];
      double* now = alpha + t * n;
      const double jump = again * sum_columns(n, [&](auto at) INLINE_LAMBDA {
                            const auto b = at(beta), x = at(row) * b * inverse;
                            if constexpr (POSTERIORS) at.set(now, at(now) * b);
                            at.set(u, x);
                            return at(p) * x;
                          });
      const double share = t > 0 ? again : 1.0;
      over_columns(n, [&](auto at) INLINE_LAMBDA {
        const auto x = at(u);
        at.set(drawn, at(drawn) + share * x);
        at.set(beta, stay * x + jump);
      });
      visit(t);
    }
    for (i64 k = 0; k < n; k++) drawn[k] *= p[k];
  }
  void expected(Symbols words, double* alpha, const double* scales) {
    backward<false>(words, alpha, scales, [](i64) {});
  }
  void posteriors(Symbols words, double* alpha, const double* scales) {
    backward<true>(words, alpha, scales, [](i64) {});
  }

  // The most probable topics.  The best way to topic k stays, or comes from the best of all; scores
  // are divided by that of the best.  `jumped` has room for n per word.
  void viterbi(Symbols words, u8* jumped, i32* path) {
    double *score = beta, *kept = u;
    for (i64 t = 0; t < words.size(); t++) {
      const double* row = shared.emission.row(words[t]);
      u8* jumps = jumped + t * n;
      for (i64 k = 0; k < n; k++) {
        const double drawn_anew = t == 0 ? p[k] : again * p[k];
        kept[k] = t == 0 ? 0.0 : (stay + again * p[k]) * score[k];
        jumps[k] = kept[k] < drawn_anew;
        score[k] = row[k] * (jumps[k] ? drawn_anew : kept[k]);
      }
      const i64 best = first_largest(score, n);
      const double largest = score[best];
      for (i64 k = 0; k < n; k++) score[k] /= largest;
      path[t] = i32(best);  // where a word that jumped came from, until the way back
    }
    i32 now = path[words.size() - 1];
    for (i64 t = words.size() - 1; t >= 0; t--) {
      const i32 source = t > 0 && jumped[t * n + now] ? path[t - 1] : now;
      path[t] = now;
      now = source;
    }
  }
};

// The chains of documents that have a transition matrix each.
struct Full {
  using Back = i64;  // the topic before, on the best path to a word's
  const DocumentChain& shared;
  const double* prior = shared.prior.data;
  const Matrix rows = shared.rows;
  const i64 n = shared.prior.size();
  Buffer<double> first_topic{n}, a{n * n}, beta{n}, u{n}, moves{n * n}, first{n};

  void begin() {
    mean_of(prior, first_topic, n);
    for (i64 i = 0; i < n; i++) {
      const double share = 1.0 / total_of(rows.row(i), n);
      for (i64 k = 0; k < n; k++) a[i * n + k] = share * rows.row(i)[k];
    }
  }
  const double* start() const { return first_topic; }

  // start ~ prior + first, every row of A ~ rows + moves; the largest change, by use.
  double em_update() {
    double largest = update(first_topic, prior, first, n);
    const double used = total_of(moves, n * n);
    for (i64 i = 0; i < n; i++) {
      const double leaving = total_of(moves + i * n, n);
      const double share = used > 0.0 ? leaving / used : 0.0;
      const double change = share * update(a + i * n, rows.row(i), moves + i * n, n);
      largest = change > largest ? change : largest;
    }
    return largest;
  }

  void forward(Symbols words, double* alpha, double* scales) const {
    for (i64 t = 0; t < words.size(); t++) {
      double* now = alpha + t * n;
      if (t > 0) row_times(now - n, a, n, n, now);
      scales[t] = multiply(t > 0 ? now : first_topic, shared.emission.row(words[t]), now, n);
      scale(now, 1.0 / scales[t], n);
    }
  }

  // alpha becomes gamma, `moves` the sum of xi: expected transitions, (K, K).
  void posteriors(Symbols words, double* alpha, const double* scales) {
    for (i64 i = 0; i < n; i++) beta[i] = 1.0;
    for (i64 i = 0; i < n * n; i++) moves[i] = 0.0;
    for (i64 t = words.size() - 1; t >= 0; t--) {
      const double *row = shared.emission.row(words[t]), inverse = 1.0 / scales[t];
      double* now = alpha + t * n;
      over_columns(n, [&](auto at) INLINE_LAMBDA {
        const auto b = at(beta);
        at.set(now, at(now) * b);
        at.set(u, at(row) * b * inverse);
      });
      if (t > 0) step_back(now - n);
    }
    for (i64 i = 0; i < n * n; i++) moves[i] *= a[i];
    for (i64 k = 0; k < n; k++) first[k] = alpha[k];
  }
  void expected(Symbols words, double* alpha, const double* scales) {
    posteriors(words, alpha, scales);
  }

  // moves += outer(before, u);  beta = A u
  void step_back(const double* before) {
    for (i64 i = 0; i < n; i++) {
      const double* from = a + i * n;
      double *move = moves + i * n, share = before[i];
      beta[i] = sum_columns(n, [&](auto at) INLINE_LAMBDA {
        const auto x = at(u);
        at.set(move, at(move) + share * x);
        return at(from) * x;
      });
    }
  }

  // The most probable topics.  `source` has room for n topics per word.
  void viterbi(Symbols words, i64* source, i32* path) {
    double *score = beta, *after = u;
    for (i64 t = 0; t < words.size(); t++) {
      const double* row = shared.emission.row(words[t]);
      if (t == 0)
        for (i64 k = 0; k < n; k++) after[k] = first_topic[k];
      else best_before(score, source + t * n, after);
      double largest = 0.0;
      for (i64 k = 0; k < n; k++) {
        after[k] *= row[k];
        largest = after[k] > largest ? after[k] : largest;
      }
      for (i64 k = 0; k < n; k++) score[k] = after[k] / largest;
    }
    i64 now = first_largest(score, n);
    for (i64 t = words.size() - 1; t >= 0; t--) {
      path[t] = i32(now);
      if (t > 0) now = source[t * n + now];
    }
  }

  // after[k] = max_i score[i] a[i, k], and the first i that has it.
  void best_before(const double* score, i64* source, double* after) const {
    for (i64 k = 0; k < n; k++) after[k] = 0.0, source[k] = 0;
    for (i64 i = 0; i < n; i++) {
      const double *from = a + i * n, so_far = score[i];
      over_columns(n, [&](auto at) INLINE_LAMBDA {
        const auto value = so_far * at(from), best = at(after);
        const auto from_before = at(source);
        const auto better = value > best;
        at.set(after, better ? value : best);
        at.set(source, better ? i - decltype(from_before){} : from_before);
      });
    }
  }
};

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
