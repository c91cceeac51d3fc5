// Points and the centres of their clusters: which is nearest, and where the centres are.
#include "rows.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr i64 BLOCK = 512;  // points whose best so far fit the nearest cache

}  // namespace

// labels = distance.argmin(axis=0);  least, second = np.partition(distance, 1, axis=0)[:2]
//
// distance is (K, n); of one centre alone, the second is at infinity.
void two_nearest(Matrix distance, IndicesOut labels, RealsOut least_, RealsOut second) {
  const i64 n = distance.shape[1];
  for (i64 i = 0; i < n; i++) labels[i] = 0, least_[i] = second[i] = INF;
  for (i64 first = 0; first < n; first += BLOCK)
    for (i64 centre = 0; centre < distance.size(); centre++) {
      const double* row = distance.row(centre) + first;
      double *best = least_.data + first, *next_best = second.data + first;
      i64* label = labels.data + first;
      over_columns(least(BLOCK, n - first), [&](auto at) INLINE_LAMBDA {
        const auto here = at(row), so_far = at(best), other = at(next_best);
        const auto was = at(label), now = centre - decltype(was){};
        const auto nearer = here < so_far;
        const auto farther = nearer ? so_far : here;
        at.set(label, nearer ? now : was);
        at.set(best, nearer ? here : so_far);
        at.set(next_best, farther < other ? farther : other);
      });
    }
}

// centres[k] = np.average(points[labels == k], axis=0, weights=weights[labels == k]), of those k
// that have changed.
void move_centres(Matrix points, Reals weights, Indices labels, View<const bool, 1> changed,
                  MatrixOut centres) {
  const i64 n_centres = centres.size(), n = points.shape[1];
  Buffer<double> mass(n_centres);
  for (i64 c = 0; c < n_centres; c++)
    if (changed[c])
      for (i64 j = 0; j < n; j++) centres.row(c)[j] = 0.0;
  for (i64 i = 0; i < points.size(); i++) {
    const i64 c = labels[i];
    if (!changed[c]) continue;
    mass[c] += weights[i];
    add_times(weights[i], points.row(i), centres.row(c), n);
  }
  for (i64 c = 0; c < n_centres; c++)
    if (changed[c])
      for (i64 j = 0; j < n; j++) centres.row(c)[j] /= mass[c];
}

}  // namespace cohmm::COHMM_LEVEL
