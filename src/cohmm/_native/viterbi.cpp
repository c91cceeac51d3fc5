// Viterbi's recursion, in logarithms, block by block:
//
//   score[t, j] = max_i(score[t - 1, i] + trans[i, j]) + emit[y[t], j]
//
// No back-pointers are kept: the state before another is the first one whose score, carried forward
// again, is exactly that of the other.
#include "kernels.hpp"
#include "lanes.hpp"

namespace cohmm::COHMM_LEVEL {
namespace {

constexpr double LOW_SCORE = -512.0;  // above it, differences of scores stay exact

// after = max_i(rows[i] + trans[i]) + emit[seen]
[[gnu::noinline]] void score_step(const Tables& logs, const double* rows, i32* const* seen, i64 k,
                                  const double one, double* after) {
  const i64 width = logs.trans.shape[1];
  const auto ones = splat<Vec<double, L>>(one);
  product(
      logs.trans, rows, -INF,
      [&](auto& best, double x, const auto& entries)
          INLINE_LAMBDA { best.raise(x, ones, entries); },
      [&](int b, i64 column, const auto& best) INLINE_LAMBDA {
        using R = std::remove_cv_t<std::remove_reference_t<decltype(best)>>;
        (best + R::from(logs.emit.row(seen[b][k]) + column)).to(after + b * width + column);
      });
}

// Bit l says whether a[l] == b[l].
template <class V>
INLINE unsigned equal(V a, V b) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#elif defined(__AVX__)
  return unsigned(_mm256_movemask_pd((__m256d)(a == b)));
#elif defined(__SSE2__)
  return unsigned(_mm_movemask_pd((__m128d)(a == b)));
#else
  unsigned bits = 0;
  for (int l = 0; l < L; l++) bits |= unsigned(a[l] == b[l]) << l;
  return bits;
#endif
}

// The first i with the largest row[i] + back[i].
inline i64 best_source(const double* row, const double* back, i64 n_states) {
  i64 best = 0;
  for (i64 i = 1; i < n_states; i++)
    if (row[i] + back[i] > row[best] + back[best]) best = i;
  return best;
}

// The first i with (row[i] + back[i]) + emission == score, or -1.
INLINE i64 equal_source(const double* row, const double* back, double emission, double score,
                        i64 width, i64 size) {
  const auto added = splat<Vec<double, L>>(emission), target = splat<Vec<double, L>>(score);
  for (i64 begin = 0; begin < width; begin += 64) {
    u64 bits = 0;  // of 64 columns: a branch for each vector could not be foreseen
    for (i64 k = begin; k < least(begin + 64, width); k += L) {
      __builtin_prefetch(row + (k - 3 * size));  // it need not exist
      bits |= u64(equal((load<L>(row + k) + load<L>(back + k)) + added, target)) << (k - begin);
    }
    if (bits) return begin + __builtin_ctzll(bits);
  }
  return -1;
}

// The best path through each block, from its end.
inline void trace(const Tables& logs, const Blocks& data, const Group& group, const Paths& out,
                  const double* rows, const bool* lowered, i32* const* seen, i32* path) {
  const i64 n_states = logs.back.shape[0], width = logs.back.shape[1], size = LANES * width;
  const i64 n = group.n_steps;
  i64 here[LANES];
  for (int b = 0; b < LANES; b++) {
    const double* row = rows + n * size + b * width;
    i64 state = out.known[group.block[b]];
    if (state < 0) {
      state = 0;
      for (i64 k = 1; k < n_states; k++)
        if (row[k] > row[state]) state = k;
    }
    here[b] = state;
    path[(n - 1) * LANES + b] = i32(state);
  }
  for (i64 t = n - 2; t >= 0; t--) {
    const double* row = rows + (t + 1) * size;
    for (int b = 0; b < LANES; b++, row += width) {
      const double* back = logs.back.row(here[b]);
      const double emission = logs.emit.row(seen[b][t + 1])[here[b]];
      i64 source = equal_source(row, back, emission, row[size + here[b]], width, size);
      if (source < 0 || lowered[t + 2]) source = best_source(row, back, n_states);
      here[b] = source;
      path[t * LANES + b] = i32(source);
    }
  }
  for (int b = 0; b < LANES; b++) {
    const i64 wait = group.waits[b], last = data.blocks.row(group.block[b])[LAST];
    const i64 beyond = wait + last - group.first[b];
    for (i64 t = wait; t < beyond; t++) out.states[group.first[b] + t - wait] = path[t * LANES + b];
    out.passed[group.block[b]] = beyond < n ? path[beyond * LANES + b] : -1;
  }
}

// Keep the scores small, so that their differences stay exact; where nothing is possible they are
// 0.
inline void lower(double* rows, i64 n_states, i64 width, const double* tops) {
  for (int b = 0; b < LANES; b++)
    for (i64 k = 0; k < n_states; k++) {
      double& score = rows[b * width + k];
      if (tops[b] == -INF) score = 0.0;
      else if (tops[b] < LOW_SCORE) score -= tops[b];
    }
}

// Hand over the scores at the joints, less their maximum.
INLINE void leave(const Blocks& data, const Group& group, const double* rows, i64 ring,
                  Matrix trans, const Borders& borders, double* previous, bool* agrees) {
  const i64 n_states = trans.shape[0], width = trans.shape[1];
  for (int b = 0; b < LANES; b++) {
    const i64* block = data.blocks.row(group.block[b]);
    if (block[RIGHT] < 0) continue;
    const i64 step = (group.waits[b] + block[LAST] - group.first[b]) % ring;
    const double* row = rows + (step * LANES + b) * width;
    double top = -INF;
    for (i64 k = 0; k < n_states; k++) top = row[k] > top ? row[k] : top;
    agrees[b] = hand_over(
        n_states, borders.after.row(block[RIGHT]), previous + b * width,
        [&](i64 k) { return row[k] - top; },
        [&](double now, double before) {
          return now == before || std::fabs(now - before) <= borders.tolerance;
        });
  }
}

}  // namespace

void viterbi(const Blocks& data, Part part, const Tables& logs, const Borders& borders,
             const Paths& out) {
  const i64 n_states = logs.trans.shape[0], width = logs.trans.shape[1], size = LANES * width;
  const i64 missing = logs.emit.shape[0] - 1;
  const bool tracing = bool(out.states);
  const i64 ring = (tracing ? most_steps(data, part, 0, out.ends) : 1) + 1, kept = ring + CHUNK;
  Buffer<double> rows(ring * size, -INF);
  Buffer<i32> index(LANES * kept, i32(missing)), path(tracing ? kept * LANES : 1);
  Buffer<bool> lowered(ring + 1);
  volatile double unknown_one = 1.0;  // see `sum` in simd.hpp
  const double one = unknown_one;
  i32 *table[LANES], *seen[LANES];
  double tops[LANES];
  for (int b = 0; b < LANES; b++) table[b] = index + b * kept;
  auto pass = [&](const Group& group, double* previous, bool* agrees) {
    for (int b = 0; b < LANES; b++) {
      if (out.lost) out.lost[group.block[b]] = POSSIBLE;
      for (i64 k = 0; k < n_states; k++) rows[b * width + k] = 0.0;
    }
    i64 here = 0;
    for (i64 t = 0; t < group.n_steps; t++) {
      const i64 at = t % CHUNK;
      if (at == 0) {
        for (int b = 0; b < LANES; b++) seen[b] = table[b] + (tracing ? t : 0);
        look_up(data.symbols, group, group.first, 1, t, least(t + CHUNK, group.n_steps), missing,
                seen);
      }
      double* now = &rows[here * size];
      here = here + 1 == ring ? 0 : here + 1;
      double* after = &rows[here * size];
      const bool entering = t <= group.last_wait;
      // Lanes that begin in this step: from a joint before it, or with what it has met after it.
      auto begin = [&](auto enter) {
        for (int b = 0; b < (entering ? LANES : 0); b++)
          if (t == group.waits[b]) enter(b * width, b, data.blocks.row(group.block[b])[LEFT]);
      };
      begin([&](i64 row, int, i64 left) {
        if (left >= 0) std::memcpy(now + row, borders.before.row(left), n_states * sizeof(double));
      });
      score_step(logs, now, seen, at, one, after);
      lowered[here] = false;
      if (!(entering || at % SCALE_EVERY == SCALE_EVERY - 1 || t + 1 == group.n_steps)) continue;
      begin([&](i64 row, int b, i64 left) {
        const double* emission = logs.emit.row(seen[b][at]);
        for (i64 k = 0; k < (left < 0 ? n_states : 0); k++)
          after[row + k] = emission[k] + (left == SEQUENCE_END ? logs.start[k] : 0.0);
      });
      over_states(after, width, maximum, -INF, tops);
      bool low = false;
      for (int b = 0; b < LANES; b++) {
        low |= tops[b] < LOW_SCORE || (entering && t == group.waits[b]);
        if (tops[b] == -INF && out.lost && out.lost[group.block[b]] < 0)
          out.lost[group.block[b]] = group.place(b, t);
      }
      if (low) {
        lower(after, n_states, width, tops);
        lowered[here] = true;
      }
    }
    leave(data, group, rows, ring, logs.trans, borders, previous, agrees);
    if (tracing) trace(logs, data, group, out, rows, lowered, table, path);
  };
  over_groups(data, part, borders, false, width, out.ends, pass);
}

// log_prob[s] = start[x[0]] + emit[y[0], x[0]] + sum(trans[x[t - 1], x[t]] + emit[y[t], x[t]])
void path_log_probs(Symbols symbols, Indices offsets, Part part, Symbols states, const Tables& logs,
                    RealsOut log_prob) {
  const i64 missing = logs.emit.shape[0] - 1;
  auto emission = [&](i64 t) {
    return logs.emit.row(symbols[t] >= 0 ? symbols[t] : missing)[states[t]];
  };
  auto step = [&](i64 t) { return logs.trans.row(states[t - 1])[states[t]] + emission(t); };
  for (i64 s = part.first; s < part.second; s++) {
    const i64 first = offsets[s], last = offsets[s + 1];
    if (first == last) continue;
    double total = logs.start[states[first]] + emission(first);
    double even = 0.0, odd = 0.0;  // two sums, so that one addition need not wait for the other
    i64 t = first + 1;
    for (; t + 1 < last; t += 2) {
      even += step(t);
      odd += step(t + 1);
    }
    if (t < last) total += step(t);
    log_prob[s] = total + even + odd;
  }
}

}  // namespace cohmm::COHMM_LEVEL
