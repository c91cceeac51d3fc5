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

}  // namespace

void forward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
             const Borders& borders, const Filtered& out) {
  const i64 n_states = tables.trans.shape[0], width = tables.trans.shape[1], size = LANES * width;
  Buffer<double> initial(size), rows(2 * size), factors(LANES);
  Buffer<i32> index(LANES * CHUNK);
  Scaling each = scaling;
  each.every_step |= bool(out.rows);
  Lanes lanes;
  over_groups(data, part, borders, false, width, [&](auto& group, double* previous, bool* agrees) {
    begin_forward(data, group, tables.start, borders.before, n_states, width, initial.data, lanes);
    filter_lanes(data.symbols, group, lanes, 1, initial.data, false, tables, tables.trans, each,
                 {rows.data, factors.data, index.data, 2, CHUNK, false},
                 [&](i64 t, const double* after) {
                   for (int b = 0; b < (out.rows ? LANES : 0); b++)
                     for (i64 k = 0; k < (t >= group.waits[b] ? n_states : 0); k++)
                       out.rows.row(group.first[b] + t - group.waits[b])[k] =
                           after[b * width + k] * lanes.scale[b];
                 });
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
                 {rows.data, factors.data, index.data, 2, CHUNK, false}, [](i64, const double*) {});
    leave(data, group, lanes, rows.data + (group.n_steps + 1) % 2 * size, LEFT, n_states, width,
          borders, MatrixOut{}, previous, agrees);
  });
}

}  // namespace cohmm::COHMM_LEVEL
