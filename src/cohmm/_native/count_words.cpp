// The E-step of sticky chains: how often each topic is expected to have emitted each word,
//
//     counts[w_t] += weight * gamma_t
#include "document_chains.hpp"

namespace cohmm {
namespace COHMM_LEVEL {

void count_words(Symbols symbols, Indices offsets, Part part, Reals weights,
                 const DocumentChain& shared, i64 sweeps, MatrixOut proportions, MatrixOut counts,
                 RealsOut totals) {
  Sticky chain(shared);
  const i64 n = chain.n, length = longest(offsets, part);
  Buffer<double> alpha(length * n), scales(length);
  for (i64 d = part.first; d < part.last; d++) {
    const Words words = words_of(symbols, offsets[d], offsets[d + 1]);
    const double weight = weights[d];
    if (words.size == 0 || weight == 0.0) continue;
    double *own = proportions.row(d - part.first), log_likelihood = 0.0;
    for (i64 k = 0; k < n; k++) chain.p[k] = own[k];
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
      chain.forward(words, alpha.data, scales.data);
      if (sweep < sweeps - 1) chain.expected(words, alpha.data, scales.data);
      else chain.posteriors(words, alpha.data, scales.data);
      chain.em_update();
    }
    for (i64 k = 0; k < n; k++) own[k] = chain.p[k];
    for (i64 t = 0; t < words.size; t++) {
      add_times(weight, alpha.data + t * n, counts.row(words[t]), n);
      log_likelihood += std::log(scales[t]);
    }
    totals[0] += weight * (total_of(chain.drawn.data, n) - 1.0);
    totals[1] += weight * double(words.size - 1);
    totals[2] += weight * log_likelihood;
    totals[3] += weight * double(words.size);
  }
}

}  // namespace COHMM_LEVEL
}  // namespace cohmm
