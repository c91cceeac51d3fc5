// Mixtures of K given distributions that come nearest to many others.
//
// For every target q the weights c, at least 0 and summing to one, that minimise
//
//     squares       | q - c B |^2              from the products B B' and q B' alone
//     divergence    sum_v q_v log(q_v / (c B)_v)
//
// The first by spectral projected gradients (Birgin, Martinez and Raydan, 2000): with g the
// gradient, a step goes from c towards the projection of c - a g onto the simplex, as far as the
// objective falls; 1 / a is the curvature that the step before has met.  The second by a few steps
// of EM, then Newton's, whose quadratic problem is one of the first kind.  Both objectives are
// convex, so that c . g - min g bounds how far they are above their minimum: iterations stop when
// that is at most `tol`.
//
// Exponentiated gradients and EM alone, usual for this problem, only creep towards weights that
// are zero: with K = 20 their error was 1e-4 after 5,000 steps, where 24 steps of the first method
// leave 1e-6.  Projected gradients alone do not serve for the divergence, which is steep where
// c B is near zero: on news, a third of the words had not converged after 500 steps.
#include "rows.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double FLOOR = 1e-100;  // its square does not underflow
constexpr int SEARCHES = 30;
constexpr i64 EM_STEPS = 20;  // before Newton's
constexpr i64 INNER = 500;

// Move to the nearest point of the simplex, max(point - shift, 0) with a sum of one.
//
// The shift rises as entries that it makes zero are left out (Michelot, 1986).
INLINE void project(double* point, i64 n) {
  double count = double(n), total = total_of(point, n), shift;
  while (true) {
    shift = (total - 1.0) / count;
    const auto above = sum_columns(n, [&](auto at) INLINE_LAMBDA {
      const auto x = at(point), zero = x - x, one = zero + 1.0;
      const auto over = x > shift;
      return Two{over ? x : zero, over ? one : zero};
    });
    if (above.b >= count) break;  // more by rounding only
    count = above.b;
    total = above.a;
  }
  over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(point, at_least(at(point) - shift, 0.0)); });
}

// c . g - min g
INLINE double gap_at(const double* c, const double* gradient, i64 n) {
  double lowest = INF;
  for (i64 k = 0; k < n; k++) lowest = gradient[k] < lowest ? gradient[k] : lowest;
  return dot(c, gradient, n) - lowest;
}

// x = max(x + share * way, 0)
INLINE void advance(double* x, double share, const double* way, i64 n) {
  over_columns(n,
               [&](auto at) INLINE_LAMBDA { at.set(x, at_least(at(x) + share * at(way), 0.0)); });
}

// Move c to the least c G c' - 2 b c on the simplex, G symmetric; returns whether it converged.
bool descend(const double* gram, const double* target, i64 n, double tol, i64 max_iter, double* c,
             double* work) {
  double *gradient = work, *way = work + n, *bend = work + 2 * n;
  row_times(c, gram, n, n, gradient);
  over_columns(n,
               [&](auto at) INLINE_LAMBDA { at.set(gradient, 2.0 * (at(gradient) - at(target))); });
  double step = 0.5;
  for (i64 iteration = 0; iteration < max_iter; iteration++) {
    if (gap_at(c, gradient, n) <= tol) return true;
    over_columns(n, [&](auto at) INLINE_LAMBDA { at.set(way, at(c) - step * at(gradient)); });
    project(way, n);
    const double slope = sum_columns(n, [&](auto at) INLINE_LAMBDA {
      const auto x = at(way) - at(c);
      at.set(way, x);
      return x * at(gradient);
    });
    row_times(way, gram, n, n, bend);
    const auto [half, square] = sum_columns(n, [&](auto at) INLINE_LAMBDA {
      const auto x = at(way);
      return Two{x * at(bend), x * x};
    });
    const double curvature = 2.0 * half;
    if (slope >= 0.0 || curvature <= 0.0) return true;  // what is left to gain is below rounding
    const double longest = -slope / curvature, share = longest < 1.0 ? longest : 1.0;
    advance(c, share, way, n);
    add_times(2.0 * share, bend, gradient, n);
    step = square / curvature;
  }
  return false;
}

// A target of the divergence: q on some of the words, whose rows of B' are row(v), and p = c B
// there.
struct Target {
  Matrix table;
  const i32* columns;
  const double* q;
  i64 size;

  INLINE const double* row(i64 v) const { return table.row(columns[v]); }

  // out[v] = row(v) . c
  void mix(const double* c, double* out) const {
    for (i64 v = 0; v < size; v++) out[v] = dot(row(v), c, table.shape[1]);
  }

  // gradient = -(q / p) @ rows
  void gradient_at(const double* p, double* ratios, double* gradient) const {
    over_columns(size,
                 [&](auto at) INLINE_LAMBDA { at.set(ratios, -at(q) / at_least(at(p), FLOOR)); });
    weighted_rows(
        ratios, [&](i64 v) INLINE_LAMBDA { return row(v); }, size, table.shape[1], gradient);
  }

  // Slope and curvature of -sum q log(p + share * rise) in share.
  Two<double> slope_at(const double* p, const double* rise, double share) const {
    const auto sums = sum_columns(size, [&](auto at) INLINE_LAMBDA {
      const auto r = at(rise);
      const auto ratio = r / at_least(at(p) + share * r, FLOOR), term = at(q) * ratio;
      return Two{term, term * ratio};
    });
    return {-sums.a, sums.b};
  }

  // Where between 0 and 1 the objective is least on the way: Newton, kept between bounds.
  double best_share(const double* p, const double* rise) const {
    if (slope_at(p, rise, 1.0).a <= 0.0) return 1.0;
    double low = 0.0, high = 1.0, share = 0.0;
    for (int search = 0; search < SEARCHES; search++) {
      const auto [slope, curvature] = slope_at(p, rise, share);
      (slope > 0.0 ? high : low) = share;
      if (std::fabs(slope) <= 1e-3 * curvature * share || high - low < 1e-15) break;
      share = curvature > 0.0 ? share - slope / curvature : high;
      if (!(low < share && share < high)) share = 0.5 * (low + high);
    }
    return low > 0.0 ? low : share;
  }

  // out = B diag(q / p^2) B' / 2 / scale, its diagonal near one; returns the scale.
  double curvature_at(const double* p, double* out) const {
    const i64 n = table.shape[1];
    for (i64 i = 0; i < n * n; i++) out[i] = 0.0;
    for (i64 v = 0; v < size; v++) {
      const double floored = at_least(p[v], FLOOR), ratio = q[v] / (floored * floored);
      const double* x = row(v);
      for (i64 k = 0; k < n; k++)
        if (const double factor = x[k] * ratio; factor > 0.0)
          add_times(factor, x, out + k * n, k + 1);
    }
    double scale = 0.0;
    for (i64 k = 0; k < n; k++) scale += out[k * n + k] / double(2 * n);
    for (i64 k = 0; k < n; k++)
      for (i64 j = 0; j <= k; j++) out[j * n + k] = out[k * n + j] /= 2.0 * scale;
    return scale;
  }
};

// Space for one target after the other.
struct Room {
  i64 n, longest;
  Buffer<double> gradient{n}, way{n}, pull{n}, hessian{n * n}, work{3 * n};
  Buffer<double> p{longest}, rise{longest}, ratios{longest};
};

// c <- -c g, scaled to one, which is a step of EM.
INLINE void em_step(const double* gradient, double* c, i64 n) {
  const double total = sum_columns(n, [&](auto at) INLINE_LAMBDA {
    const auto x = -at(c) * at(gradient);
    at.set(c, x);
    return x;
  });
  for (i64 k = 0; k < n; k++) c[k] /= total;
}

bool least_divergence(const Target& target, double tol, i64 max_iter, double* c, Room& room) {
  const i64 n = target.table.shape[1];
  double *p = room.p, *way = room.way, *gradient = room.gradient;
  for (i64 k = 0; k < n; k++) c[k] = 1.0 / double(n);
  for (i64 t = 0; t < max_iter; t++) {
    if (t <= EM_STEPS) target.mix(c, p);
    target.gradient_at(p, room.ratios, gradient);
    const double gap = gap_at(c, gradient, n);
    if (gap <= tol) return true;
    if (t < EM_STEPS) {
      em_step(gradient, c, n);
      continue;
    }
    const double scale = target.curvature_at(p, room.hessian);
    for (i64 k = 0; k < n; k++) way[k] = c[k], room.pull[k] = -gradient[k] / scale;
    descend(room.hessian, room.pull, n, 0.01 * gap / scale, INNER, way, room.work);
    for (i64 k = 0; k < n; k++) way[k] -= c[k];
    if (dot(way, gradient, n) >= 0.0) return true;  // what is left to gain is below rounding
    target.mix(way, room.rise);
    const double share = target.best_share(p, room.rise);
    advance(p, share, room.rise, target.size);
    advance(c, share, way, n);
  }
  return false;
}

}  // namespace

// Weights out (n, K) of the targets in part; returns how many have not converged.
//
// gram is B B', (K, K), scaled so that its diagonal is near one; targets is q B', (n, K).
i64 nearest_by_squares(Matrix gram, Matrix targets, Part part, double tol, i64 max_iter,
                       MatrixOut out) {
  const i64 n = gram.size();
  Buffer<double> work(3 * n);
  i64 failed = 0;
  for (i64 i = part.first; i < part.second; i++) {
    double* c = out.row(i);
    for (i64 k = 0; k < n; k++) c[k] = 1.0 / double(n);
    failed += !descend(gram.data, targets.row(i), n, tol, max_iter, c, work);
  }
  return failed;
}

// As nearest_by_squares; table is B', (V, K), and the targets are sparse rows.
i64 nearest_by_divergence(Matrix table, Indices indptr, Symbols indices, Reals values, Part part,
                          double tol, i64 max_iter, MatrixOut out) {
  i64 longest = 0, failed = 0;
  for (i64 i = part.first; i < part.second; i++) longest = most(longest, indptr[i + 1] - indptr[i]);
  Room room{table.shape[1], longest};
  for (i64 i = part.first; i < part.second; i++) {
    const i64 first = indptr[i], size = indptr[i + 1] - first;
    const Target target{table, indices.data + first, values.data + first, size};
    failed += !least_divergence(target, tol, max_iter, out.row(i), room);
  }
  return failed;
}

}  // namespace cohmm::COHMM_LEVEL
