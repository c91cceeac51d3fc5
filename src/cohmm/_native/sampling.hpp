// Drawing from chains: bit for bit the same on every machine, so nothing here is fused or
// reordered.
#pragma once
#include <tuple>

#include "arrays.hpp"

namespace cohmm {
// Walker's alias tables of every row: column c of a row is drawn where a uniform number falls into
// its cell below cut[c], alias[c] where it falls above.  sum_c [cut[c] at c, 1 - cut[c] at
// alias[c]] / n are the probabilities.
void alias_tables(Matrix probabilities, MatrixOut cut, View<i32, 2> alias);

struct AliasTables {
  Matrix trans_cut;
  View<const i32, 2> trans_alias;
  Matrix emit_cut;
  View<const i32, 2> emit_alias;
  static constexpr const char* names[] = {"trans_cut", "trans_alias", "emit_cut", "emit_alias"};
  auto fields() { return std::tie(trans_cut, trans_alias, emit_cut, emit_alias); }
};
// Walk the chain from `state`, the first to emit; uniforms[t] says what is emitted at t, and where
// the chain goes next.  Returns the state after the last symbol.
i64 sample_path(i64 state, Matrix uniforms, const AliasTables& tables, SymbolsOut symbols,
                SymbolsOut states);

// Draw a path from its law given the symbols, by forward filtering and backward sampling: with f[t]
// the filtered law at t, start (K,), trans (K, K) and emit (K, N),
//   w = f[t] * trans[:, states[t + 1]];  states[t] = searchsorted(cumsum(w), uniforms[t] * w.sum())
void draw_states(Symbols symbols, Indices offsets, Reals start, Matrix trans, Matrix emit,
                 Reals uniforms, SymbolsOut states);
}  // namespace cohmm
