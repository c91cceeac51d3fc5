// The filter of eight lanes, with what scaling needs, for the forward and the backward pass.
#pragma once
#include "lanes.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double LOST_TOTAL = 1e-190;   // a row that sums to less is left to logarithms
constexpr double LOW_TOTAL = 1e-60;     // one that sums to less is scaled at once
constexpr double LOW_PRODUCT = 1e-200;  // totals are multiplied up to here before one logarithm
constexpr double NEGLIGIBLE = 1e-300;   // a difference at a joint that is none

// What each lane begins with, and what it leaves.
struct Lanes {
  i64 first[LANES];     // the first symbol met
  bool emits[LANES];    // whether the initial distribution is of the state that emits it
  double scale[LANES];  // what the last row is to be multiplied by
  double log_prob[LANES];
  double product[LANES];  // of the totals since the last logarithm
  i64 lost[LANES];        // the first impossible place, or POSSIBLE, or FADED
  bool faded[LANES];

  INLINE void begin(int b) {
    scale[b] = product[b] = 1.0;
    log_prob[b] = 0.0;
    lost[b] = POSSIBLE;
    faded[b] = false;
  }
};

// after = (rows @ trans) * emit[seen] * scale
[[gnu::noinline]] void filter_step(const Tables& tables, Matrix trans, const double* rows,
                                   const i32* const* seen, i64 k, const double* scale,
                                   double* after) {
  const i64 width = trans.shape[1];
  product(
      trans, rows, 0.0,
      [](auto& sum, double x, const auto& entries) INLINE_LAMBDA { sum.add_product(x, entries); },
      [&](int b, i64 column, const auto& sum) INLINE_LAMBDA {
        using R = std::remove_cv_t<std::remove_reference_t<decltype(sum)>>;
        const R emission = R::from(tables.emit.row(seen[b][k]) + column);
        (sum * emission * scale[b]).to(after + b * width + column);
      });
}

// After a step that came out low: take logarithms, and bring low rows back to one.
inline void rescale(double* rows, i64 n_states, i64 width, const Group& group, Lanes& lanes,
                    int direction, i64 t, const double* totals, double* factors) {
  for (int b = 0; b < LANES; b++) {
    double total = totals[b], *row = rows + b * width;
    const double product = lanes.product[b];
    lanes.product[b] = lanes.scale[b] = 1.0;
    if (!(total >= LOST_TOTAL)) {
      if (lanes.lost[b] < 0) lanes.lost[b] = lanes.first[b] + direction * (t - group.waits[b]);
      for (i64 k = 0; k < n_states; k++) row[k] = 1.0 / double(n_states);
    } else if (total >= LOW_TOTAL) {
      lanes.log_prob[b] += std::log(product * total);
      lanes.scale[b] = 1.0 / total;
    } else {
      lanes.log_prob[b] += std::log(product) + std::log(total);
      for (i64 k = 0; k < n_states; k++) row[k] /= total;
      factors[b] /= total;
    }
  }
}

// Whether a possible state has a share of the row below `faint`.
INLINE bool fades(const double* row, i64 n_states, double faint) {
  bool any = false;
  for (i64 k = 0; k < n_states; k++) any |= (row[k] > 0.0) & (row[k] < faint);
  return any;
}

// For `filter_lanes`: nothing to observe, or to keep.
constexpr auto ignore = [](auto&&...) INLINE_LAMBDA {};

// Where the rows of a run are kept: rows[t % ring] is the distribution before step t; factors[t]
// what step t was multiplied by and index[lane][t] the row of emit that it met, if `all` are kept.
struct Space {
  double *rows, *factors;
  i32* index;
  i64 ring, index_width;
  bool all;
};

// Filter all lanes to their ends, and one step `beyond` as if nothing were observed.
//
//   alpha[t + 1] = (alpha[t] @ trans) * emit[symbols[t]] * scale
//
// Where rows are added up, observe(t, rows before, rows, totals) may change them; keep(t, rows)
// sees the rows after every step.
template <class Observe, class Keep>
INLINE void filter_lanes(Symbols symbols, const Group& group, Lanes& lanes, int direction,
                         const double* initial, bool beyond, const Tables& tables, Matrix trans,
                         const Scaling& scaling, Space space, Observe observe, Keep keep) {
  const i64 n_states = trans.shape[0], width = trans.shape[1], missing = tables.emit.shape[0] - 1;
  const i64 n = group.n_steps + beyond, size = LANES * width;
  double totals[LANES];
  i32* seen[LANES];
  for (int b = 0; b < LANES; b++) {
    lanes.begin(b);
    for (i64 k = 0; k < n_states; k++) space.rows[b * width + k] = 1.0 / double(n_states);
  }
  i64 here = 0;
  for (i64 t = 0; t < n; t++) {
    const i64 at = t % CHUNK;
    if (at == 0) {
      for (int b = 0; b < LANES; b++)
        seen[b] = space.index + b * space.index_width + (space.all ? t : 0);
      look_up(symbols, group, lanes.first, direction, t, least(t + CHUNK, n), missing, seen);
    }
    double* now = space.rows + here * size;
    here = here + 1 == space.ring ? 0 : here + 1;
    double* after = space.rows + here * size;
    double* factor = space.factors + (space.all ? t * LANES : 0);
    const bool entering = t <= group.last_wait;
    for (int b = 0; b < (entering ? LANES : 0); b++)
      if (t == group.waits[b] && !lanes.emits[b]) {
        lanes.begin(b);
        std::memcpy(now + b * width, initial + b * width, n_states * sizeof(double));
      }
    std::memcpy(factor, lanes.scale, sizeof lanes.scale);
    filter_step(tables, trans, now, seen, at, lanes.scale, after);
    for (int b = 0; b < (entering ? LANES : 0); b++)
      if (t == group.waits[b] && lanes.emits[b]) {  // instead of what the step made of nothing
        lanes.begin(b);
        factor[b] = 1.0;
        const double* emission = tables.emit.row(seen[b][at]);
        for (i64 k = 0; k < n_states; k++)
          after[b * width + k] = initial[b * width + k] * emission[k];
      }
    if (entering || scaling.every_step || at % SCALE_EVERY == SCALE_EVERY - 1 || t + 1 == n) {
      over_states(after, width, add, 0.0, totals);
      observe(t, now, after, totals);
      bool low = false;
      for (int b = 0; b < LANES; b++)
        low |= !(totals[b] >= LOW_TOTAL && lanes.product[b] * totals[b] >= LOW_PRODUCT);
      for (int b = 0; b < (scaling.faint > 0.0 ? LANES : 0); b++)
        lanes.faded[b] |= fades(after + b * width, n_states, scaling.faint * totals[b]);
      for (int b = 0; b < (scaling.floor > 0.0 ? LANES : 0); b++)
        for (i64 k = 0; k < n_states; k++) {
          double& value = after[b * width + k];
          const double raised = scaling.floor * totals[b];
          value = value > 0.0 && value < raised ? raised : value;
        }
      if (low) {
        rescale(after, n_states, width, group, lanes, direction, t, totals, factor);
      } else {
        for (int b = 0; b < LANES; b++) {
          lanes.scale[b] = 1.0 / totals[b];
          lanes.product[b] *= totals[b];
        }
      }
    } else {
      for (int b = 0; b < LANES; b++) lanes.scale[b] = 1.0;
    }
    keep(t, after);
  }
  for (int b = 0; b < LANES; b++) {
    lanes.log_prob[b] += std::log(lanes.product[b]);
    if (lanes.lost[b] >= 0) lanes.log_prob[b] = -INF;
    else if (lanes.faded[b]) lanes.lost[b] = FADED;
  }
}

// What the lanes begin with in a forward pass.
INLINE void begin_forward(const Blocks& data, const Group& group, const Tables& tables,
                          Matrix before, double* initial, Lanes& lanes) {
  const i64 n_states = tables.trans.shape[0], width = tables.trans.shape[1];
  for (int b = 0; b < LANES; b++) {
    const i64 left = data.blocks.row(group.block[b])[LEFT];
    lanes.first[b] = group.first[b];
    lanes.emits[b] = left < 0;
    for (i64 k = 0; k < n_states; k++)
      initial[b * width + k] = left >= 0              ? before.row(left)[k]
                               : left == SEQUENCE_END ? tables.start[k]
                                                      : 1.0 / double(n_states);
  }
}

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
