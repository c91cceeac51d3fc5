// log P(word | the words before it in its document).  The parameters of a document are, at every
// word, those of the prior and of the topics expected drawn (or the transitions expected) so far,
// by the filter: nothing after the word has a say.
#include "document_chains.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

struct StickyFilter {
  const DocumentChain& chain;
  const i64 n = chain.prior.size();
  Buffer<double> drawn{n}, now{n};
  double mass = 0.0, draws = 1.0;  // drawn.sum(), and the probability that a topic is drawn

  void begin() {
    for (i64 k = 0; k < n; k++) drawn[k] = chain.prior[k], now[k] = 0.0;
    mass = total_of(chain.prior.data, n);
    draws = 1.0;
  }

  // P(next word), whose emissions are in `row`.
  double next(const double* row) {
    const double stays = 1.0 - draws, share = draws / mass;
    const double z = sum_columns(n, [&](auto at) INLINE_LAMBDA {
      const auto x = at(row) * (stays * at(now) + share * at(drawn));
      at.set(now, x);
      return x;
    });
    const double inverse = 1.0 / z, gain = share * inverse;
    mass = sum_columns(n, [&](auto at) INLINE_LAMBDA {
      const auto before = at(drawn), x = before + before * at(row) * gain;
      at.set(now, at(now) * inverse);
      at.set(drawn, x);
      return x;
    });
    draws = chain.switch_rate;
    return z;
  }
};

struct FullFilter {
  const DocumentChain& chain;
  const i64 n = chain.prior.size();
  Buffer<double> counts{n * n}, totals{n}, now{n}, shares{n};
  bool first = true;

  void begin() {
    for (i64 i = 0; i < n; i++) {
      totals[i] = total_of(chain.rows.row(i), n);
      for (i64 k = 0; k < n; k++) counts[i * n + k] = chain.rows.row(i)[k];
    }
    first = true;
  }

  double next(const double* row) {
    if (first) mean_of(chain.prior.data, now, n);
    else {
      for (i64 i = 0; i < n; i++) shares[i] = now[i] / totals[i];
      row_times(shares, counts, n, n, now);
    }
    const double z = multiply(now, row, now, n), inverse = 1.0 / z;
    for (i64 i = 0; i < (first ? 0 : n); i++) {
      double *count = counts + i * n, share = shares[i] * inverse;
      totals[i] = sum_columns(n, [&](auto at) INLINE_LAMBDA {
        const auto before = at(count), x = before + share * before * at(row);
        at.set(count, x);
        return x;
      });
    }
    scale(now, inverse, n);
    first = false;
    return z;
  }
};

}  // namespace

void predict_words(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                   RealsOut logs) {
  auto predict = [&](auto&& filter) {
    for (i64 d = part.first; d < part.second; d++) {
      filter.begin();
      for (i64 t = offsets[d]; t < offsets[d + 1]; t++)
        logs[t] = std::log(filter.next(chain.emission.row(symbols[t])));
    }
  };
  if (chain.rows) predict(FullFilter{chain});
  else predict(StickyFilter{chain});
}

}  // namespace cohmm::COHMM_LEVEL
