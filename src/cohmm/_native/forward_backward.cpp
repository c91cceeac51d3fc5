// Forward and backward through blocks, for posteriors and expected counts.
//
// With alpha[t + 1] = (alpha[t] @ trans) * emit[y[t]] * f[t], whose factors f keep it in range, the
// backward rows beta[t] = back.T @ (beta[t + 1] * emit[y[t]] * f[t]) have the same product with
// alpha everywhere.  Scaled so that it is one at the end,
//
//   gamma[t] = alpha[t] * beta[t],   xi[t] = outer(alpha[t], beta[t + 1] * emit[y[t]] * f[t]) *
//   trans
//
// are the posteriors of states and of transitions, with no further sum or division.  A backward
// value that underflows is harmless, as alpha is at most one; one that grows beyond all bounds says
// that alpha has lost a state, or that the state is impossible.
#include "filter.hpp"
#include "kernels.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double LARGEST_BETA = 1e110;  // times 1 / LOST_TOTAL and any K it stays finite
constexpr i64 STRETCH = CHUNK;          // steps whose outer products are added up in registers

// beta = rows @ back; now = beta * emit[seen] * factors; sums[into] += beta * alpha.
// Whether all of beta stays in range; the sum sees NaN, which a maximum would not.
[[gnu::noinline]] bool smooth_step(const Tables& tables, const double* rows, i32* const* seen,
                                   i32* const* into, i64 t, const double* factors,
                                   const double* alpha, MatrixOut sums, double* now) {
  const i64 width = tables.back.shape[1];
  auto total = Vec<double, L>{};
  product(
      tables.back, rows, 0.0,
      [](auto& sum, double x, const auto& entries) INLINE_LAMBDA { sum.add_product(x, entries); },
      [&](int b, i64 column, const auto& beta) INLINE_LAMBDA {
        using R = std::remove_cv_t<std::remove_reference_t<decltype(beta)>>;
        const R emission = R::from(tables.emit.row(seen[b][t]) + column);
        (beta * (emission * factors[b])).to(now + b * width + column);
        double* gamma = sums.row(into[b][t]) + column;
        R grown = R::from(gamma);
        grown.add_product(R::from(alpha + b * width + column), beta);
        grown.to(gamma);
        beta.add_to(total);
      });
  return over_elements(total, add) <= LARGEST_BETA;
}

// After a step with a beta out of range: states with alpha zero are impossible and do without; the
// block is lost where there are others.
inline void check_range(const Tables& tables, const double* rows, const double* alpha, double* now,
                        const Group& group, IndicesOut lost) {
  const i64 n_states = tables.back.shape[0], width = tables.back.shape[1];
  for (int b = 0; b < LANES; b++) {
    if (!group.active[b]) continue;
    i64& place = lost[group.block[b]];
    for (i64 k = 0; k < n_states; k++) {
      double beta = 0.0;
      for (i64 i = 0; i < n_states; i++) beta += rows[b * width + i] * tables.back.row(i)[k];
      if (beta <= LARGEST_BETA) continue;
      if (alpha[b * width + k] != 0.0) place = group.first[b];
      now[b * width + k] = 0.0;
    }
    if (place >= 0) std::memset(now + b * width, 0, n_states * sizeof(double));
  }
}

// total += sum(outer(left[t], right[t])) over t < n
[[gnu::noinline]] void add_outer_products(const double* left, const double* right, i64 n,
                                          i64 n_states, MatrixOut total) {
  constexpr int R = L == 8 ? 4 : TILE_ROWS;
  const i64 width = total.shape[1];
  over_tiles(n_states, [&](i64 column, auto w) INLINE_LAMBDA {
    using T = Row<decltype(w)::value>;
    for (i64 i = 0; i < n_states; i += R) {
      T sum[R];
      UNROLL for (int r = 0; r < R; r++) sum[r] = T::all(0.0);
      const double *a = left + i, *c = right + column;
      for (i64 t = 0; t < n; t++, a += width, c += width) {
        T entries = T::from(c);
        UNROLL for (int r = 0; r < R; r++) sum[r].add_product(a[r], entries);
      }
      UNROLL for (int r = 0; r < R; r++) {
        double* to = total.row(i + r) + column;
        (T::from(to) + sum[r]).to(to);
      }
    }
  });
}

// Write the posteriors of a step, or the first of their most probable states.
inline void keep(const double* gamma, const Group& group, i64 t, i64 n_states, i64 width,
                 const Smoothed& out) {
  for (int b = 0; b < LANES; b++) {
    if (t < group.waits[b] || !group.active[b]) continue;
    const i64 place = group.place(b, t);
    const double* row = gamma + b * width;
    if (out.posterior) std::memcpy(out.posterior.row(place), row, n_states * sizeof(double));
    if (!out.best) continue;
    i32 state = 0;
    for (i64 k = 1; k < n_states; k++)
      if (row[k] > row[state]) state = i32(k);
    out.best[place] = state;
  }
}

// beta at the ends of the lanes: its product with the last row of alpha is one, or the weight of
// the sequence, as all that is counted is linear in it; zero in lanes that do not count.
INLINE void begin_backward(const Blocks& data, const Group& group, const Lanes& lanes,
                           const double* alpha, Matrix before, Reals weights, MatrixOut after,
                           i64 n_states, i64 width, const Filtered& out, double* beta) {
  for (int b = 0; b < LANES; b++, alpha += width, beta += width) {
    for (i64 k = 0; k < n_states; k++) beta[k] = 0.0;
    if (!group.active[b]) continue;
    const i64 *block = data.blocks.row(group.block[b]), right = block[RIGHT];
    i64& place = out.lost[group.block[b]];
    out.log_prob[group.block[b]] = lanes.log_prob[b];
    place = lanes.lost[b];
    double total = 0.0;
    for (i64 k = 0; k < n_states; k++) {
      beta[k] = right >= 0 ? before.row(right)[k] : 1.0;
      if (right >= 0) after.row(right)[k] = alpha[k] * lanes.scale[b];
      total += alpha[k] * beta[k];
    }
    if (!(total >= 1.0 / LARGEST_BETA) && place < 0) place = group.first[b];
    const double weight = place >= 0 ? 0.0 : (weights ? weights[block[SEQUENCE]] : 1.0) / total;
    for (i64 k = 0; k < n_states; k++) beta[k] *= weight;
  }
}

// At the begin of a lane: count its start, or hand beta over at the joint; then forget it.
INLINE void end_backward(const Blocks& data, const Group& group, i64 t, i64 n_states, i64 width,
                         Reals start, RealsOut starts, MatrixOut after, double* rows) {
  for (int b = 0; b < LANES; b++, rows += width) {
    if (!group.active[b]) continue;
    const i64 left = data.blocks.row(group.block[b])[LEFT];
    if (t == group.waits[b] && left < 0) {
      for (i64 k = 0; k < (starts ? n_states : 0); k++) starts[k] += start[k] * rows[k];
    } else if (t == group.waits[b] - 1) {
      double total = 0.0;
      for (i64 k = 0; k < n_states; k++) total += rows[k];
      for (i64 k = 0; k < (left >= 0 && total > 0.0 ? n_states : 0); k++)
        after.row(left)[k] = rows[k] / total;
    } else {
      continue;
    }
    for (i64 k = 0; k < n_states; k++) rows[k] = 0.0;
  }
}

}  // namespace

void forward_backward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
                      const Borders& ahead, const Borders& behind, Reals weights,
                      const Filtered& filtered, const Smoothed& out) {
  const i64 n_states = tables.trans.shape[0], width = tables.trans.shape[1], size = LANES * width;
  const bool count = bool(out.emissions);
  const i64 longest = most_steps(data, part, 1), kept = longest + 1 + CHUNK;
  Buffer<double> beta(size), factors(kept * LANES), gamma(size);
  Buffer<double> alpha((longest + 1) * size), rows((STRETCH + 1) * size);
  Buffer<i32> index(LANES * kept), own(LANES * kept);
  i32 *seen[LANES], *into[LANES];
  MatrixOut sums = out.emissions;
  if (!count) sums = {gamma, {LANES, width}};
  for (int b = 0; b < LANES; b++) {  // posteriors go to the row of their lane
    seen[b] = index + b * kept;
    into[b] = count ? seen[b] : own + b * kept;
    for (i64 t = 0; t < (count ? 0 : kept); t++) into[b][t] = b;
  }
  Lanes lanes;
  for (i64 g = part.first; g < part.second; g++) {
    const Group group(data, g, 1);  // one step more, to leave at the left
    const i64 n = group.n_steps;
    begin_forward(data, group, tables, ahead.before, beta, lanes);
    filter_lanes(data.symbols, group, lanes, 1, beta, false, tables, tables.trans, scaling,
                 {alpha, factors, index, longest + 1, kept, true}, ignore, ignore);
    begin_backward(data, group, lanes, alpha + n * size, behind.before, weights, ahead.after,
                   n_states, width, filtered, beta);
    for (i64 top = n; top > 0;) {  // the steps [bottom, top) are in rows[0 : top - bottom]
      const i64 bottom = most(top - STRETCH, 0);
      if (top < n) std::memcpy(&rows[(top - bottom) * size], rows, size * sizeof(double));
      for (i64 t = top - 1; t >= bottom; t--) {
        double* now = &rows[(t - bottom) * size];
        const double* past = &alpha[(t + 1) * size];
        if (!count) std::memset(gamma, 0, size * sizeof(double));
        if (t < n - 1) {
          if (!smooth_step(tables, now + size, seen, into, t, &factors[t * LANES], past, sums, now))
            check_range(tables, now + size, past, now, group, filtered.lost);
        } else {
          for (int b = 0; b < LANES; b++)
            for (i64 k = 0; k < n_states; k++) {
              const double value = beta[b * width + k];
              now[b * width + k] = value * tables.emit.row(seen[b][t])[k] * factors[t * LANES + b];
              sums.row(into[b][t])[k] += value * past[b * width + k];
            }
        }
        if (!count) keep(gamma, group, t, n_states, width, out);
        if (t <= group.last_wait)
          end_backward(data, group, t, n_states, width, tables.start, out.starts, behind.after,
                       now);
      }
      if (count)
        add_outer_products(&alpha[bottom * size], rows, (top - bottom) * LANES, n_states,
                           out.transitions);
      top = bottom;
    }
  }
}

}  // namespace cohmm::COHMM_LEVEL
