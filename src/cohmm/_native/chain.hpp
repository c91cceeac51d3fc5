// What the kernels of chains are given and what they fill, read from Python's NamedTuples of the
// same names (cohmm/kernels/chain.py).
#pragma once
#include <tuple>

#include "arrays.hpp"

namespace cohmm {

// Columns of `Blocks::blocks`; a joint's number is -1 where the sequence itself begins or ends.
enum { FIRST, LAST, LEFT, RIGHT, SEQUENCE };
constexpr i64 SEQUENCE_END = -1, UNKNOWN = -2;  // instead of a joint
constexpr i64 POSSIBLE = -1, FADED = -2;        // instead of a lost place

// An HMM, columns padded to W: start (W,), trans (K, W), its transpose back (K, W), emit (N + 1,
// W), whose last row is that of the missing observation; probabilities, or their logarithms.
struct Tables {
  Reals start;
  Matrix trans, back, emit;
  static constexpr const char* names[] = {"start", "trans", "back", "emit"};
  auto fields() { return std::tie(start, trans, back, emit); }
};

// symbols (T,), -1 where missing; blocks (B, 5); groups (G, 8): the blocks that run side by side.
struct Blocks {
  Symbols symbols;
  IndexTableOut blocks;
  IndexTable groups;
  static constexpr const char* names[] = {"symbols", "blocks", "groups"};
  auto fields() { return std::tie(symbols, blocks, groups); }
};

// Vectors at joints, (J, W): where blocks begin, and what was computed on leaving them.  Where
// `warm_up`, (J, 3) of border, begin and end of the sequence, is given, block j is the warm-up of
// joint j, and is lengthened until what it computes has settled to `tolerance`.
struct Borders {
  Matrix before;
  MatrixOut after;
  IndexTable warm_up;
  double tolerance;
  static constexpr const char* names[] = {"before", "after", "warm_up", "tolerance"};
  auto fields() { return std::tie(before, after, warm_up, tolerance); }
};

// How rows are kept in range: scaled in every step, or every fourth; a state whose share of a row
// falls below `faint` is reported; possible states are raised to `floor`, for an upper bound.
struct Scaling {
  bool every_step;
  double faint, floor;
  static constexpr const char* names[] = {"every_step", "faint", "floor"};
  auto fields() { return std::tie(every_step, faint, floor); }
};

// What a forward pass fills: log_prob (B,), lost (B,), and where wanted the filtered distributions
// (T, K), the last of every sequence (S, K), and -log P(y[t] | y[:t]), (T,), for which impossible
// symbols are passed over.
struct Filtered {
  RealsOut log_prob;
  IndicesOut lost;
  MatrixOut rows, last;
  RealsOut surprise;
  static constexpr const char* names[] = {"log_prob", "lost", "rows", "last", "surprise"};
  auto fields() { return std::tie(log_prob, lost, rows, last, surprise); }
};

// What forward-backward fills, where wanted: expected starts (W,), transitions (W, W) before they
// are multiplied by the transition probabilities, emissions (N + 1, W); or posteriors (T, K) and
// the first of the most probable states (T,).
struct Smoothed {
  RealsOut starts;
  MatrixOut transitions, emissions, posterior;
  SymbolsOut best;
  static constexpr const char* names[] = {"starts", "transitions", "emissions", "posterior",
                                          "best"};
  auto fields() { return std::tie(starts, transitions, emissions, posterior, best); }
};

// What Viterbi is given and fills, one value per block: how far it is scored, the state to trace it
// from (or -1), the state after it through which its path goes; lost as above; the path (T,).
struct Paths {
  Indices ends, known;
  IndicesOut passed, lost;
  SymbolsOut states;
  static constexpr const char* names[] = {"ends", "known", "passed", "lost", "states"};
  auto fields() { return std::tie(ends, known, passed, lost, states); }
};

}  // namespace cohmm
