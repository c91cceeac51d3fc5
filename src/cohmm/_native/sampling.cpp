// Draws from chains.
#include <vector>

#include "plain.hpp"

namespace cohmm {
namespace {

i64 draw(double uniform, const double* cut, const i32* alias, i64 n) {
  const double scaled = uniform * double(n);
  i64 column = i64(scaled);
  if (column > n - 1) column = n - 1;
  return scaled - double(column) < cut[column] ? column : alias[column];
}

}  // namespace

void alias_tables(Matrix probabilities, MatrixOut cut, View<i32, 2> alias) {
  const i64 n = probabilities.shape[1];
  std::vector<i64> small(n), large(n);
  std::vector<double> scaled(n);
  for (i64 r = 0; r < probabilities.size(); r++) {
    const double* law = probabilities.row(r);
    double* cuts = cut.row(r);
    i32* other = alias.row(r);
    i64 n_small = 0, n_large = 0, top = 0;
    for (i64 i = 0; i < n; i++) {
      scaled[i] = law[i] * double(n);
      cuts[i] = 1.0;
      other[i] = 0;
      if (scaled[i] < 1.0) small[n_small++] = i;
      else large[n_large++] = i;
      if (law[i] > law[top]) top = i;
    }
    while (n_small > 0 && n_large > 0) {
      const i64 poor = small[--n_small], rich = large[n_large - 1];
      cuts[poor] = scaled[poor];
      other[poor] = i32(rich);
      scaled[rich] -= 1.0 - scaled[poor];
      if (scaled[rich] < 1.0) {
        n_large--;
        small[n_small++] = rich;
      }
    }
    // What rounding left over holds one whole column, unless it has no mass at all.
    for (i64 i = 0; i < n_small; i++)
      if (law[small[i]] == 0.0) {
        cuts[small[i]] = 0.0;
        other[small[i]] = i32(top);
      }
  }
}

i64 sample_path(i64 state, Matrix uniforms, const AliasTables& tables, SymbolsOut symbols,
                SymbolsOut states) {
  const i64 n_states = tables.trans_cut.shape[1], n_symbols = tables.emit_cut.shape[1];
  for (i64 t = 0; t < symbols.size(); t++) {
    states[t] = i32(state);
    symbols[t] = i32(draw(uniforms.row(t)[0], tables.emit_cut.row(state),
                          tables.emit_alias.row(state), n_symbols));
    state = draw(uniforms.row(t)[1], tables.trans_cut.row(state), tables.trans_alias.row(state),
                 n_states);
  }
  return state;
}

void draw_states(Symbols symbols, Indices offsets, Reals start, Matrix trans, Matrix emit,
                 Reals uniforms, SymbolsOut states) {
  const i64 n_states = start.size();
  std::vector<double> filtered(symbols.size() * n_states), weights(n_states);
  for (i64 s = 0; s + 1 < offsets.size(); s++) {
    const i64 first = offsets[s], last = offsets[s + 1];
    for (i64 t = first; t < last; t++) {
      double total = 0.0, *row = filtered.data() + t * n_states;
      for (i64 j = 0; j < n_states; j++) {
        double value = t == first ? start[j] : 0.0;
        for (i64 i = 0; t > first && i < n_states; i++)
          value += (row - n_states)[i] * trans.row(i)[j];
        if (symbols[t] >= 0) value *= emit.row(j)[symbols[t]];
        row[j] = value;
        total += value;
      }
      for (i64 j = 0; j < n_states; j++) row[j] /= total;
    }
    for (i64 t = last - 1; t >= first; t--) {
      double total = 0.0;
      for (i64 i = 0; i < n_states; i++) {
        weights[i] = filtered[t * n_states + i];
        if (t < last - 1) weights[i] *= trans.row(i)[states[t + 1]];
        total += weights[i];
      }
      double left = uniforms[t] * total;
      i64 state = 0;
      while (state < n_states - 1 && left >= weights[state]) left -= weights[state++];
      while (state > 0 && weights[state] == 0.0) state--;  // what rounding left over
      states[t] = i32(state);
    }
  }
}

}  // namespace cohmm
