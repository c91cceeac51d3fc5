// The chain of every document, fitted by EM, and the topics of its words by that chain.
#include "document_chains.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

// shares = gamma.mean(axis=0)
INLINE void mean_posterior(const double* gamma, i64 length, i64 n, double* shares) {
  for (i64 k = 0; k < n; k++) shares[k] = 0.0;
  for (i64 t = 0; t < length; t++) add_times(1.0, gamma + t * n, shares, n);
  scale(shares, 1.0 / total_of(shares, n), n);
}

}  // namespace

void infer_documents(Symbols symbols, Indices offsets, Part part, const DocumentChain& shared,
                     bool halves, i64 sweeps, double tol, const Reading& out) {
  auto infer = [&](auto&& chain) {
    const i64 n = chain.n, length = longest(offsets, part);
    const bool decode = out.topics.size() > 0;
    Buffer<double> alpha(length * n), scales(length);
    Buffer<typename std::remove_reference_t<decltype(chain)>::Back> back(decode ? length * n : 0);
    for (i64 d = part.first; d < part.second; d++) {
      const i64 begin = offsets[d], end = offsets[d + 1];
      const i64 middle = halves ? begin + (end - begin) / 2 : begin;
      const Symbols words = symbols.slice(begin, end);
      const Symbols seen = halves ? symbols.slice(begin, middle) : words;
      double *shares = out.shares.row(d), log_likelihood = 0.0;
      chain.begin();
      for (i64 sweep = 0; sweep < sweeps && seen.size() > 0; sweep++) {
        chain.forward(seen, alpha, scales);
        chain.expected(seen, alpha, scales);
        if (chain.em_update() < tol) break;
      }
      if (words.size() > 0) {
        chain.forward(words, alpha, scales);
        for (i64 t = middle - begin; t < words.size(); t++) log_likelihood += std::log(scales[t]);
        chain.posteriors(words, alpha, scales);
        mean_posterior(alpha, words.size(), n, shares);
        if (out.posteriors.size() > 0)
          for (i64 i = 0; i < words.size() * n; i++) out.posteriors.row(begin)[i] = alpha[i];
        if (decode) {
          i32* path = out.topics.data + begin;
          chain.viterbi(words, back, path);
          for (i64 t = 0; t < words.size(); t++) {
            const double gamma = alpha[t * n + path[t]];
            out.probabilities[begin + t] = gamma < 1.0 ? gamma : 1.0;
          }
        }
      } else {
        for (i64 k = 0; k < n; k++) shares[k] = chain.start()[k];
      }
      out.log_likelihoods[d] = log_likelihood;
    }
  };
  if (shared.rows) infer(Full{shared});
  else infer(Sticky{shared});
}

}  // namespace cohmm::COHMM_LEVEL
