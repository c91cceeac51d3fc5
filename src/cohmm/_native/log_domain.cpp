// Forward and backward of one sequence in logarithms.
#include <cmath>
#include <limits>
#include <vector>

#include "plain.hpp"

namespace cohmm {
namespace {

constexpr double INF = std::numeric_limits<double>::infinity();

i64 emission_row(i32 symbol, const Tables& logs) {
  return symbol >= 0 ? symbol : logs.emit.shape[0] - 1;
}

// log(sum(exp(term(i)))) over i < n
template <class Term>
double log_sum_exp(i64 n, Term term) {
  double top = -INF, total = 0.0;
  for (i64 i = 0; i < n; i++) top = std::fmax(top, term(i));
  if (top == -INF) return top;
  for (i64 i = 0; i < n; i++) total += std::exp(term(i) - top);
  return top + std::log(total);
}

// step(t, predicted, emission, row) for all t, until it returns false: from the predicted
// log-probabilities of the states at t and those of the symbol there it makes the row from which
// the next are predicted, log_sum_exp(row[:, None] + trans, axis=0).
template <class Step>
void over_steps(Symbols symbols, const Tables& logs, Step step) {
  const i64 n_states = logs.trans.shape[0];
  std::vector<double> row(n_states), predicted(n_states);
  for (i64 t = 0; t < symbols.size(); t++) {
    for (i64 j = 0; j < n_states; j++) {
      const double* into = logs.back.row(j);
      predicted[j] =
          t == 0 ? logs.start[j] : log_sum_exp(n_states, [&](i64 i) { return row[i] + into[i]; });
    }
    if (!step(t, predicted, logs.emit.row(emission_row(symbols[t], logs)), row)) break;
  }
}

}  // namespace

std::pair<double, i64> log_forward(Symbols symbols, const Tables& logs, MatrixOut alpha) {
  const i64 n_states = logs.trans.shape[0];
  i64 impossible = -1;
  double log_prob = 0.0;
  over_steps(symbols, logs, [&](i64 t, auto& predicted, const double* emission, auto& row) {
    double* out = alpha.row(t < alpha.size() ? t : alpha.size() - 1);
    bool possible = false;
    for (i64 k = 0; k < n_states; k++) {
      out[k] = row[k] = emission[k] + predicted[k];
      possible |= row[k] > -INF;
    }
    if (!possible) impossible = t;
    if (!possible || t + 1 == symbols.size())
      log_prob = log_sum_exp(n_states, [&](i64 k) { return row[k]; });
    return possible;
  });
  return {log_prob, impossible};
}

void log_surprise(Symbols symbols, const Tables& logs, RealsOut surprise) {
  const i64 n_states = logs.trans.shape[0];
  over_steps(symbols, logs, [&](i64 t, auto& predicted, const double* emission, auto& row) {
    const double total = log_sum_exp(n_states, [&](i64 k) { return predicted[k] + emission[k]; });
    surprise[t] = symbols[t] < 0 ? 0.0 : -total;
    for (i64 k = 0; k < n_states; k++)  // given what is before, so sums are 0
      row[k] = total == -INF ? predicted[k] : predicted[k] + emission[k] - total;
    return true;
  });
}

void log_backward(Symbols symbols, const Tables& logs, MatrixOut beta) {
  const i64 n_states = logs.trans.shape[0], n = symbols.size();
  for (i64 k = 0; k < n_states; k++) beta.row(n - 1)[k] = 0.0;
  for (i64 t = n - 2; t >= 0; t--) {
    const double *emission = logs.emit.row(emission_row(symbols[t + 1], logs)),
                 *after = beta.row(t + 1);
    for (i64 i = 0; i < n_states; i++) {
      const double* from = logs.trans.row(i);
      beta.row(t)[i] =
          log_sum_exp(n_states, [&](i64 j) { return from[j] + emission[j] + after[j]; });
    }
  }
}

void add_log_counts(Symbols symbols, const Tables& logs, Matrix alpha, Matrix beta, RealsOut starts,
                    MatrixOut transitions, MatrixOut emissions) {
  const i64 n_states = logs.trans.shape[0];
  for (i64 t = 0; t < symbols.size(); t++) {
    const i64 symbol = emission_row(symbols[t], logs);
    const double *ahead = alpha.row(t), *behind = beta.row(t);
    // The log-likelihood; from here and not from the end, so that rounding errors cancel.
    const double log_prob = log_sum_exp(n_states, [&](i64 k) { return ahead[k] + behind[k]; });
    for (i64 k = 0; k < n_states; k++) {
      const double gamma = std::exp(ahead[k] + behind[k] - log_prob);
      emissions.row(symbol)[k] += gamma;
      if (t == 0) {
        starts[k] += gamma;
        continue;
      }
      const double rest = logs.emit.row(symbol)[k] + behind[k] - log_prob;
      for (i64 i = 0; i < n_states; i++)
        transitions.row(i)[k] += std::exp(alpha.row(t - 1)[i] + logs.trans.row(i)[k] + rest);
    }
  }
}

}  // namespace cohmm
