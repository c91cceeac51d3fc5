// Structs of arguments, each read from the attributes of a Python object that FIELDS names, such as
// the NamedTuples of the same names in cohmm/kernels.
#pragma once
#include <tuple>

#include "arrays.hpp"

#define FIELDS(...)                                  \
  static constexpr const char* names = #__VA_ARGS__; \
  auto fields() { return std::tie(__VA_ARGS__); }

namespace cohmm {

// -- hidden Markov chains: cohmm/kernels/recursions.py

// Columns of `Blocks::blocks`; a joint's number is -1 where the sequence itself begins or ends.
enum { FIRST, LAST, LEFT, RIGHT, SEQUENCE };
constexpr i64 SEQUENCE_END = -1, UNKNOWN = -2;  // instead of a joint
constexpr i64 POSSIBLE = -1, FADED = -2;        // instead of a lost place

// An HMM, columns padded to W: start (W,), trans (K, W), its transpose back (K, W), emit (N + 1,
// W), whose last row is that of the missing observation; probabilities, or their logarithms.
struct Tables {
  Reals start;
  Matrix trans, back, emit;
  FIELDS(start, trans, back, emit)
};

// symbols (T,), -1 where missing; blocks (B, 5); groups (G, 8): the blocks that run side by side.
struct Blocks {
  Symbols symbols;
  IndexTableOut blocks;
  IndexTable groups;
  FIELDS(symbols, blocks, groups)
};

// Vectors at joints, (J, W): where blocks begin, and what was computed on leaving them.  Where
// `warm_up`, (J, 3) of border, begin and end of the sequence, is given, block j is the warm-up of
// joint j, and is lengthened until what it computes has settled to `tolerance`.
struct Borders {
  Matrix before;
  MatrixOut after;
  IndexTable warm_up;
  double tolerance;
  FIELDS(before, after, warm_up, tolerance)
};

// How rows are kept in range: scaled in every step, or every fourth; a state whose share of a row
// falls below `faint` is reported; possible states are raised to `floor`, for an upper bound.
struct Scaling {
  bool every_step;
  double faint, floor;
  FIELDS(every_step, faint, floor)
};

// What a forward pass fills: log_prob (B,), lost (B,), and where wanted the filtered distributions
// (T, K), the last of every sequence (S, K), and -log P(y[t] | y[:t]), (T,): 0 where missing,
// and infinite where impossible, which is passed over.
struct Filtered {
  RealsOut log_prob;
  IndicesOut lost;
  MatrixOut rows, last;
  RealsOut surprise;
  FIELDS(log_prob, lost, rows, last, surprise)
};

// What forward-backward fills, where wanted: expected starts (W,), transitions (W, W) before they
// are multiplied by the transition probabilities, emissions (N + 1, W); or posteriors (T, K) and
// the first of the most probable states (T,).
struct Smoothed {
  RealsOut starts;
  MatrixOut transitions, emissions, posterior;
  SymbolsOut best;
  FIELDS(starts, transitions, emissions, posterior, best)
};

// What Viterbi is given and fills, one value per block: how far it is scored, the state to trace it
// from (or -1), the state after it through which its path goes; where nothing is possible any more,
// up to three symbols late, or POSSIBLE; the path (T,).
struct Paths {
  Indices ends, known;
  IndicesOut passed, lost;
  SymbolsOut states;
  FIELDS(ends, known, passed, lost, states)
};

// Alias tables of all rows of the transition and of the emission matrix: see alias_tables.
struct AliasTables {
  Matrix trans_cut;
  View<const i32, 2> trans_alias;
  Matrix emit_cut;
  View<const i32, 2> emit_alias;
  FIELDS(trans_cut, trans_alias, emit_cut, emit_alias)
};

// -- documents: cohmm/kernels/documents.py

// The chain that all documents share: see document_chains.hpp.  Without `rows` it is sticky.
struct DocumentChain {
  Matrix emission;  // (V, K)
  Reals prior;      // (K,): pseudo-counts of a document's topics
  double switch_rate;
  Matrix rows;  // (K, K): pseudo-counts of a document's transitions
  static constexpr const char* names = "emission, prior, switch, rows";  // switch is a keyword
  auto fields() { return std::tie(emission, prior, switch_rate, rows); }
};

// What the chains of documents say; where topics and posteriors have no room, they are left out.
struct Reading {
  MatrixOut shares;          // (D, K)
  RealsOut log_likelihoods;  // (D,)
  SymbolsOut topics;         // (T,) or (0,)
  RealsOut probabilities;    // (T,) or (0,)
  MatrixOut posteriors;      // (T, K) or (0, K)
  FIELDS(shares, log_likelihoods, topics, probabilities, posteriors)
};

// Word w is relevant number r = number[w], or none if that is negative; it is word places[s] of
// topic topics[s] for every s in borders[r]:borders[r + 1].
struct TopWords {
  Indices number, borders, topics, places;
  FIELDS(number, borders, topics, places)
};

// -- counts

// A run is the triples from borders[r], all of which begin with before[r], middle[r].
struct TripleRuns {
  Indices borders, before, middle;
  Indices after;      // of every triple
  Reals probability;  // of every triple
  FIELDS(borders, before, middle, after, probability)
};

// A sum over two of the symbols for each third, (N, K).
struct TripleSums {
  MatrixOut before, middle, after;
  FIELDS(before, middle, after)
};

// Entries of rows: columns in order, and how often each occurs.
struct PackedEntries {
  SymbolsOut columns;
  BytesOut small;
  IndicesOut large;
  SymbolsOut widths, n_large;  // how many entries and large counts a row has
  FIELDS(columns, small, large, widths, n_large)
};

// The same rows of several parts.  Row i of part j is in columns[starts[j, i]:starts[j, i + 1]],
// and its large counts begin at large_starts[j, i].
struct PackedParts {
  IndexTable starts, large_starts;
  Symbols columns;
  Bytes small;
  Indices large;
  FIELDS(starts, large_starts, columns, small, large)
};

}  // namespace cohmm
