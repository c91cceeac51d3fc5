// The forward recursion, and the backward one as a filter in reverse, block by block.
//
//   alpha[0] = start * emit[y[0]];  alpha[t] = (alpha[t - 1] @ trans) * emit[y[t]], scaled to sum 1
//   beta[T - 1] = 1;  beta[t - 1] = back.T @ (beta[t] * emit[y[t]]), scaled to sum 1
#include "filter.hpp"
#include "kernels.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

// Hand over what the lanes have computed at the joints; agrees[lane]: whether it is what a shorter
// warm-up computed before.
INLINE void leave(const Blocks& data, const Group& group, const Lanes& lanes, const double* rows,
                  int joint_column, i64 n_states, i64 width, const Borders& borders, MatrixOut last,
                  double* previous, bool* agrees) {
  for (int b = 0; b < LANES; b++) {
    if (!group.active[b]) continue;
    const i64* block = data.blocks.row(group.block[b]);
    const i64 joint = block[joint_column];
    double* to = joint >= 0 ? borders.after.row(joint) : last ? last.row(block[SEQUENCE]) : nullptr;
    agrees[b] = true;
    for (i64 k = 0; k < n_states; k++) {
      const double value = rows[b * width + k] * lanes.scale[b];
      double& before = previous[b * width + k];
      const double largest = value > before ? value : before;
      agrees[b] &= std::fabs(value - before) <= borders.tolerance * largest + NEGLIGIBLE;
      before = value;
      if (to) to[k] = value;
    }
  }
}

// Run `pass(group)` over the groups of a part, and again with longer warm-ups until they agree.
template <class Pass>
INLINE void over_groups(const Blocks& data, Part part, const Borders& borders, bool backward,
                        i64 width, Pass pass) {
  Buffer<double> previous(LANES * width);
  bool agrees[LANES];
  for (i64 g = part.first; g < part.last; g++) {
    for (int b = 0; b < LANES; b++) previous[b * width] = -1.0;  // nothing agrees with that
    while (true) {
      Group group(data.groups.row(g), 0, data.blocks,
                  [&](i64 block) { return data.blocks.row(block)[LAST]; });
      pass(group, previous.data, agrees);
      if (!borders.warm_up || !lengthen(data.blocks, group, borders.warm_up, backward, agrees))
        break;
    }
  }
}

// Leave an impossible symbol out: row becomes what was predicted before it, from the `begin` of a
// sequence or the row before.  Not where the symbol is possible, and its probability underflowed.
inline bool pass_over(const Tables& tables, i32 symbol, const double* before, const double* begin,
                      double scale, double* row, double* predicted) {
  const i64 n_states = tables.trans.shape[0];
  const double* emission = tables.emit.row(symbol >= 0 ? symbol : tables.emit.shape[0] - 1);
  for (i64 k = 0; k < n_states; k++) {
    predicted[k] = begin ? begin[k] : 0.0;
    for (i64 i = 0; i < (begin ? 0 : n_states); i++)
      predicted[k] += before[i] * scale * tables.back.row(k)[i];
    if (predicted[k] > 0.0 && emission[k] > 0.0) return false;
  }
  std::memcpy(row, predicted, n_states * sizeof(double));
  return true;
}

}  // namespace

void forward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
             const Borders& borders, const Filtered& out) {
  const i64 n_states = tables.trans.shape[0], width = tables.trans.shape[1], size = LANES * width;
  Buffer<double> initial(size), rows(2 * size), factors(LANES), predicted(n_states);
  Buffer<i32> index(LANES * CHUNK);
  Scaling each = scaling;
  each.every_step |= out.rows || out.surprise;
  Lanes lanes;
  over_groups(data, part, borders, false, width, [&](auto& group, double* previous, bool* agrees) {
    auto place = [&](int b, i64 t) { return group.first[b] + t - group.waits[b]; };
    auto surprise = [&](i64 t, const double* now, double* after, double* totals) {
      for (int b = 0; b < (out.surprise ? LANES : 0); b++) {
        if (t < group.waits[b] || !group.active[b]) continue;
        const double* begin = t == group.waits[b] && lanes.emits[b] ? &initial[b * width] : nullptr;
        if (totals[b] == 0.0 && pass_over(tables, data.symbols[place(b, t)], now + b * width, begin,
                                          lanes.scale[b], after + b * width, predicted.data)) {
          out.surprise[place(b, t)] = INF;
          totals[b] = 1.0;
        } else {
          out.surprise[place(b, t)] = -std::log(totals[b]);
        }
      }
    };
    auto keep = [&](i64 t, const double* after) {
      for (int b = 0; b < (out.rows ? LANES : 0); b++)
        for (i64 k = 0; k < (t >= group.waits[b] ? n_states : 0); k++)
          out.rows.row(place(b, t))[k] = after[b * width + k] * lanes.scale[b];
    };
    begin_forward(data, group, tables.start, borders.before, n_states, width, initial.data, lanes);
    filter_lanes(data.symbols, group, lanes, 1, initial.data, false, tables, tables.trans, each,
                 {rows.data, factors.data, index.data, 2, CHUNK, false}, surprise, keep);
    leave(data, group, lanes, rows.data + group.n_steps % 2 * size, RIGHT, n_states, width, borders,
          out.last, previous, agrees);
    for (int b = 0; b < (out.lost ? LANES : 0); b++) {
      if (!group.active[b]) continue;
      out.log_prob[group.block[b]] = lanes.log_prob[b];
      out.lost[group.block[b]] = lanes.lost[b];
    }
  });
}

void backward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
              const Borders& borders) {
  const i64 n_states = tables.back.shape[0], width = tables.back.shape[1], size = LANES * width;
  Buffer<double> initial(size), rows(2 * size), factors(LANES);
  Buffer<i32> index(LANES * CHUNK);
  Lanes lanes;
  over_groups(data, part, borders, true, width, [&](auto& group, double* previous, bool* agrees) {
    for (int b = 0; b < LANES; b++) {
      const i64* block = data.blocks.row(group.block[b]);
      lanes.first[b] = block[LAST] - 1;
      lanes.emits[b] = true;
      for (i64 k = 0; k < n_states; k++)
        initial[b * width + k] = block[RIGHT] >= 0 ? borders.before.row(block[RIGHT])[k] : 1.0;
    }
    filter_lanes(data.symbols, group, lanes, -1, initial.data, true, tables, tables.back, scaling,
                 {rows.data, factors.data, index.data, 2, CHUNK, false}, ignore, ignore);
    leave(data, group, lanes, rows.data + (group.n_steps + 1) % 2 * size, LEFT, n_states, width,
          borders, MatrixOut{}, previous, agrees);
  });
}

}  // namespace cohmm::COHMM_LEVEL
