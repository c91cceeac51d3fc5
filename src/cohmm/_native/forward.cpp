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
                  int joint_column, Matrix trans, const Borders& borders, MatrixOut last,
                  double* previous, bool* agrees) {
  for (int b = 0; b < LANES; b++, rows += trans.shape[1], previous += trans.shape[1]) {
    if (!group.active[b]) continue;
    const i64 *block = data.blocks.row(group.block[b]), joint = block[joint_column];
    double* to = joint >= 0 ? borders.after.row(joint) : last ? last.row(block[SEQUENCE]) : nullptr;
    agrees[b] = hand_over(
        trans.shape[0], to, previous, [&](i64 k) { return rows[k] * lanes.scale[b]; },
        [&](double now, double before) {
          const double largest = now > before ? now : before;
          return std::fabs(now - before) <= borders.tolerance * largest + NEGLIGIBLE;
        });
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

// Probabilities of the symbols of a block become their surprise.
inline void take_logarithms(const Blocks& data, i64 block, RealsOut surprise) {
  i64 t = data.blocks.row(block)[FIRST];
  const i64 first = t, last = data.blocks.row(block)[LAST];
  for (; t + L <= last; t += L) {
    const auto p = load<L>(&surprise[t]), impossible = splat<Vec<double, L>>(INF);
    store(&surprise[t], p > 0.0 ? -logarithms<i64, 52, 10>(p) : impossible);
  }
  for (; t < last; t++) surprise[t] = -std::log(surprise[t]);
  for (t = first; t < last; t++)  // -1e-17, for what is certain
    surprise[t] = data.symbols[t] >= 0 && surprise[t] > 0.0 ? surprise[t] : 0.0;
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
  auto pass = [&](const Group& group, double* previous, bool* agrees) {
    auto predict = [&](i64 t, const double* now, double* after, double* totals) {
      for (int b = 0; b < (out.surprise ? LANES : 0); b++) {
        if (t < group.waits[b] || !group.active[b]) continue;
        const i64 place = group.place(b, t);
        out.surprise[place] = totals[b];
        if (totals[b] > 0.0) continue;
        const double* begin = t == group.waits[b] && lanes.emits[b] ? &initial[b * width] : nullptr;
        if (pass_over(tables, data.symbols[place], now + b * width, begin, lanes.scale[b],
                      after + b * width, predicted))
          totals[b] = 1.0;
      }
    };
    auto keep = [&](i64 t, const double* after) {
      for (int b = 0; b < (out.rows ? LANES : 0); b++)
        for (i64 k = 0; k < (t >= group.waits[b] ? n_states : 0); k++)
          out.rows.row(group.place(b, t))[k] = after[b * width + k] * lanes.scale[b];
    };
    begin_forward(data, group, tables, borders.before, initial, lanes);
    filter_lanes(data.symbols, group, lanes, 1, initial, false, tables, tables.trans, each,
                 {rows, factors, index, 2, CHUNK, false}, predict, keep);
    leave(data, group, lanes, rows + group.n_steps % 2 * size, RIGHT, tables.trans, borders,
          out.last, previous, agrees);
    for (int b = 0; b < (out.lost ? LANES : 0); b++) {
      if (!group.active[b]) continue;
      out.log_prob[group.block[b]] = lanes.log_prob[b];
      out.lost[group.block[b]] = lanes.lost[b];
      if (out.surprise) take_logarithms(data, group.block[b], out.surprise);
    }
  };
  over_groups(data, part, borders, false, width, {}, pass);
}

void backward(const Blocks& data, Part part, const Tables& tables, const Scaling& scaling,
              const Borders& borders) {
  const i64 n_states = tables.back.shape[0], width = tables.back.shape[1], size = LANES * width;
  Buffer<double> initial(size), rows(2 * size), factors(LANES);
  Buffer<i32> index(LANES * CHUNK);
  Lanes lanes;
  auto pass = [&](const Group& group, double* previous, bool* agrees) {
    for (int b = 0; b < LANES; b++) {
      const i64* block = data.blocks.row(group.block[b]);
      lanes.first[b] = block[LAST] - 1;
      lanes.emits[b] = true;
      for (i64 k = 0; k < n_states; k++)
        initial[b * width + k] = block[RIGHT] >= 0 ? borders.before.row(block[RIGHT])[k] : 1.0;
    }
    filter_lanes(data.symbols, group, lanes, -1, initial, true, tables, tables.back, scaling,
                 {rows, factors, index, 2, CHUNK, false}, ignore, ignore);
    leave(data, group, lanes, rows + (group.n_steps + 1) % 2 * size, LEFT, tables.back, borders, {},
          previous, agrees);
  };
  over_groups(data, part, borders, true, width, {}, pass);
}

}  // namespace cohmm::COHMM_LEVEL
