// log P(word | the words before it in its document).  The parameters of a document are, at every
// word, those of the prior and of the topics expected drawn (or the transitions expected) so far,
// by the filter: nothing after the word has a say.
#include "document_chains.hpp"

namespace cohmm {
namespace COHMM_LEVEL {
namespace {

struct StickyFilter {
  const double *prior, again;
  const i64 n;
  Buffer<double> drawn, now;
  double mass = 0.0, draws = 1.0;  // drawn.sum(), and the probability that a topic is drawn

  explicit StickyFilter(const DocumentChain& chain)
      : prior(chain.prior.data),
        again(chain.switch_rate),
        n(chain.prior.size()),
        drawn(n),
        now(n) {}

  void begin() {
    for (i64 k = 0; k < n; k++) drawn[k] = prior[k], now[k] = 0.0;
    mass = total_of(prior, n);
    draws = 1.0;
  }

  // P(next word), whose emissions are in `row`.
  double next(const double* row) {
    const double stays = 1.0 - draws, share = draws / mass;
    const double z = sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
      constexpr int N = decltype(w)::value;
      const auto x = at<N>(row + k) * (stays * at<N>(now.data + k) + share * at<N>(drawn.data + k));
      put(now.data + k, x);
      return x;
    });
    const double inverse = 1.0 / z, gain = share * inverse;
    mass = sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
      constexpr int N = decltype(w)::value;
      const auto before = at<N>(drawn.data + k), x = before + before * at<N>(row + k) * gain;
      put(now.data + k, at<N>(now.data + k) * inverse);
      put(drawn.data + k, x);
      return x;
    });
    draws = again;
    return z;
  }
};

struct FullFilter {
  const double* prior;
  const Matrix rows;
  const i64 n;
  Buffer<double> counts, totals, now, shares;
  bool first = true;

  explicit FullFilter(const DocumentChain& chain)
      : prior(chain.prior.data),
        rows(chain.rows),
        n(chain.prior.size()),
        counts(n * n),
        totals(n),
        now(n),
        shares(n) {}

  void begin() {
    for (i64 i = 0; i < n; i++) {
      totals[i] = total_of(rows.row(i), n);
      for (i64 k = 0; k < n; k++) counts[i * n + k] = rows.row(i)[k];
    }
    first = true;
  }

  double next(const double* row) {
    if (first) mean_of(prior, now.data, n);
    else {
      for (i64 i = 0; i < n; i++) shares[i] = now[i] / totals[i];
      row_times(shares.data, counts.data, n, n, now.data);
    }
    const double z = sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
      const auto x = at<w.value>(now.data + k) * at<w.value>(row + k);
      put(now.data + k, x);
      return x;
    });
    const double inverse = 1.0 / z;
    for (i64 i = 0; i < (first ? 0 : n); i++) {
      double *count = counts.data + i * n, share = shares[i] * inverse;
      totals[i] = sum_columns(n, [&](i64 k, auto w) INLINE_LAMBDA {
        constexpr int N = decltype(w)::value;
        const auto before = at<N>(count + k), x = before + share * before * at<N>(row + k);
        put(count + k, x);
        return x;
      });
    }
    scale(now.data, inverse, n);
    first = false;
    return z;
  }
};

template <class Filter>
void predict(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
             RealsOut logs) {
  Filter filter(chain);
  for (i64 d = part.first; d < part.last; d++) {
    filter.begin();
    for (i64 t = offsets[d]; t < offsets[d + 1]; t++)
      logs[t] = std::log(filter.next(chain.emission.row(symbols[t])));
  }
}

}  // namespace

void predict_words(Symbols symbols, Indices offsets, Part part, const DocumentChain& chain,
                   RealsOut logs) {
  if (chain.rows) predict<FullFilter>(symbols, offsets, part, chain, logs);
  else predict<StickyFilter>(symbols, offsets, part, chain, logs);
}

}  // namespace COHMM_LEVEL
}  // namespace cohmm
