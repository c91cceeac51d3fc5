// The pass over distinct triples: the cost of learning from them.
//
// For a triple (a, b, c) of probability v, and tables of one row per symbol:
//
//     p = sum(left[a] * centre[b] * right[c])       what the model expects
//     w = v / p, or v where nothing is divided
//     before[a] += w * centre[b] * right[c]         and so for the two other symbols
//     log_fit += v * log p
//
// Triples are in order, so that the product of the first two rows serves a whole run of them.
// NumPy, for a dense law T:
//
//     W = T / einsum("ak,bk,ck", left, centre, right) if divided else T
//     before = einsum("abc,bk,ck->ak", W, centre, right), and so on
#include "arguments.hpp"
#include "rows.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double NOTHING = 1e-300;  // a triple that neither occurs nor is expected has the ratio 0

// y += x * z
INLINE void add_product(const double* x, const double* z, double* y, i64 n) {
  over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(y, at(y) + at(x) * at(z)); });
}

}  // namespace

double triple_pass(const TripleRuns& runs, Part part, bool divided, Matrix left, Matrix centre,
                   Matrix right, const TripleSums& out) {
  const i64 n = left.shape[1];
  Buffer<double> both(n), sum(n);
  double log_fit = 0.0;
  for (i64 r = part.first; r < part.second; r++) {
    const i64 a = runs.before[r], b = runs.middle[r];
    const double *first = left.row(a), *second = centre.row(b);
    over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(both, at(first) * at(second)); });
    for (i64 k = 0; k < n; k++) sum[k] = 0.0;
    for (i64 i = runs.borders[r]; i < runs.borders[r + 1]; i++) {
      const i64 c = runs.after[i];
      const double* third = right.row(c);
      double weight = runs.probability[i], *after = out.after.row(c);
      if (divided) {
        const double p = at_least(dot(both, third, n), NOTHING);
        log_fit += weight * std::log(p);
        weight /= p;
      }
      add_times(weight, third, sum, n);
      add_times(weight, both, after, n);
    }
    add_product(second, sum, out.before.row(a), n);
    add_product(first, sum, out.middle.row(b), n);
  }
  return log_fit;
}

}  // namespace cohmm::COHMM_LEVEL
