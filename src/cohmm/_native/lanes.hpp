// Eight blocks of the data side by side, one per lane.
//
// One row of K numbers times a K x K matrix leaves the processor waiting: product, sum, division
// and scaling come one after the other.  Eight rows from eight blocks make it a small matrix
// product, whose tiles stay in registers.  The rows of all lanes are an array (steps, LANES, W),
// the columns padded with states of probability zero, or minus infinity for logarithms.
//
// A block is a stretch of one sequence, a joint the border of two blocks of the same sequence.
#pragma once
#include "arguments.hpp"
#include "simd.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr int LANES = 8;
constexpr int CHUNK = 32;       // steps whose symbols are looked up at once
constexpr int SCALE_EVERY = 4;  // steps after which rows are scaled

// The blocks of a group, which end together: where each begins, and how many steps it waits.
// A lane without a block runs the first block once more, for nothing.
struct Group {
  i64 block[LANES], first[LANES], waits[LANES];
  bool active[LANES];
  i64 n_steps = 0, last_wait = 0;

  // Blocks end at `ends`, where given.
  INLINE Group(const Blocks& data, i64 number, i64 extra_steps = 0, Indices ends = {}) {
    auto length = [&](int b) {
      return (ends ? ends[block[b]] : data.blocks.row(block[b])[LAST]) - first[b];
    };
    const i64* numbers = data.groups.row(number);
    for (int b = 0; b < LANES; b++) {
      active[b] = numbers[b] >= 0;
      block[b] = active[b] ? numbers[b] : numbers[0];
      first[b] = data.blocks.row(block[b])[FIRST];
      n_steps = most(n_steps, length(b));
    }
    n_steps += extra_steps;
    for (int b = 0; b < LANES; b++) {
      waits[b] = n_steps - length(b);
      last_wait = most(last_wait, waits[b]);
    }
  }

  INLINE i64 place(int b, i64 t) const { return first[b] + t - waits[b]; }
};

// The steps of the longest group.
INLINE i64 most_steps(const Blocks& data, Part part, i64 extra_steps, Indices ends = {}) {
  i64 longest = 1;
  for (i64 g = part.first; g < part.second; g++)
    longest = most(longest, Group(data, g, extra_steps, ends).n_steps);
  return longest;
}

// finish(lane, column, tile row) for combine(row[i], matrix[i], so far) over all i, tile by tile.
template <class Combine, class Finish>
INLINE void product(Matrix matrix, const double* rows, double nothing, Combine combine,
                    Finish finish) {
  const i64 n = matrix.shape[0], width = matrix.shape[1];
  over_tiles(n, [&](i64 column, auto w) INLINE_LAMBDA {
    using R = Row<decltype(w)::value>;
    for (int b = 0; b < LANES; b += TILE_ROWS) {
      R sum[TILE_ROWS];
      UNROLL for (int r = 0; r < TILE_ROWS; r++) sum[r] = R::all(nothing);
      const double* at = rows + b * width;
      const double* m = matrix.data + column;
      for (i64 i = 0; i < n; i++, m += width) {
        R entries = R::from(m);
        UNROLL for (int r = 0; r < TILE_ROWS; r++) combine(sum[r], at[r * width + i], entries);
      }
      UNROLL for (int r = 0; r < TILE_ROWS; r++) finish(b + r, column, sum[r]);
    }
  });
}

// out[lane] = the states of the lane's row, combined by f.
template <class F>
INLINE void over_states(const double* rows, i64 width, F f, double nothing, double* out) {
  for (int b = 0; b < LANES; b++) {
    auto total = splat<Vec<double, L>>(nothing);
    for (i64 k = 0; k < width; k += L) total = f(total, load<L>(rows + b * width + k));
    out[b] = over_elements(total, f);
  }
}

// index[lane][k]: the row of the emission table that the lane meets in step begin + k; that of the
// missing observation while it waits, and from n_steps on.
INLINE void look_up(Symbols symbols, const Group& group, const i64* first, int direction, i64 begin,
                    i64 end, i64 missing, i32* const* index) {
  for (int b = 0; b < LANES; b++) {
    const i64 waiting = least(most(group.waits[b] - begin, 0), end - begin);
    const i64 seen = most(least(end, group.n_steps) - begin - waiting, 0);
    const i64 place = first[b] + direction * (begin + waiting - group.waits[b]);
    i32* to = index[b];
    for (i64 k = 0; k < waiting; k++) to[k] = i32(missing);
    for (int k = CHUNK; k < 2 * CHUNK + 16; k += 16)  // no processor foresees eight places at once
      __builtin_prefetch(symbols.data + (place + direction * k));
    for (i64 k = 0; k < seen; k++) {
      const i32 symbol = symbols[place + direction * k];
      to[waiting + k] = symbol >= 0 ? symbol : i32(missing);
    }
    for (i64 k = waiting + seen; k < end - begin; k++) to[k] = i32(missing);
  }
}

// to = value(k) for all states, where there is a `to`; whether they are `same` as the previous
// ones.
template <class Value, class Same>
INLINE bool hand_over(i64 n_states, double* to, double* previous, Value value, Same same) {
  bool agrees = true;
  for (i64 k = 0; k < n_states; k++) {
    const double now = value(k);
    agrees &= same(now, previous[k]);
    previous[k] = now;
    if (to) to[k] = now;
  }
  return agrees;
}

// Double the warm-ups that do not agree with shorter ones yet; whether any was.  The warm-up of
// joint j is block j, before it or, where `backward`, after it.  One that covers more than a
// quarter of its sequence stays as it is.
INLINE bool lengthen(IndexTableOut blocks, const Group& group, IndexTable joints, bool backward,
                     const bool* agrees) {
  bool again = false;
  for (int b = 0; b < LANES; b++) {
    if (!group.active[b] || agrees[b]) continue;
    i64* block = blocks.row(group.block[b]);
    const i64* joint = joints.row(group.block[b]);
    const i64 size = block[LAST] - block[FIRST];
    const i64 room = backward ? joint[2] - joint[0] : joint[0] - joint[1];
    if (size > room / 4) continue;
    again = true;
    if (backward) block[LAST] += size;
    else block[FIRST] -= size;
  }
  return again;
}

// Run pass(group, previous, agrees) over the groups of a part, and again with longer warm-ups until
// what the lanes leave agrees with what shorter ones left, `previous`.
template <class Pass>
INLINE void over_groups(const Blocks& data, Part part, const Borders& borders, bool backward,
                        i64 width, Indices ends, Pass pass) {
  Buffer<double> previous(LANES * width);
  bool agrees[LANES];
  for (i64 g = part.first; g < part.second; g++) {
    for (int b = 0; b < LANES; b++) previous[b * width] = NAN;  // nothing agrees with that
    while (true) {
      const Group group(data, g, 0, ends);
      pass(group, previous.data, agrees);
      if (!borders.warm_up || !lengthen(data.blocks, group, borders.warm_up, backward, agrees))
        break;
    }
  }
}

}  // namespace
}  // namespace cohmm::COHMM_LEVEL
