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

}  // namespace

i64 log_filter(Symbols symbols, const Tables& logs, MatrixOut alpha, RealsOut surprise) {
  const i64 n_states = logs.trans.shape[0];
  const bool whole = alpha.size() == symbols.size();
  std::vector<double> joint(n_states);
  i64 impossible = -1;
  for (i64 t = 0; t < symbols.size(); t++) {
    const double* emission = logs.emit.row(emission_row(symbols[t], logs));
    const double* before = t > 0 ? alpha.row(whole ? t - 1 : 0) : nullptr;
    for (i64 j = 0; j < n_states; j++) {
      const double* into = logs.back.row(j);
      joint[j] =
          t > 0 ? log_sum_exp(n_states, [&](i64 i) { return before[i] + into[i]; }) : logs.start[j];
    }
    double* now = alpha.row(whole ? t : 0);
    const double total = log_sum_exp(n_states, [&](i64 k) { return joint[k] + emission[k]; });
    const bool possible = total > -INF;
    for (i64 k = 0; k < n_states; k++) now[k] = joint[k] + (possible ? emission[k] - total : 0.0);
    surprise[t] = symbols[t] >= 0 ? -total : 0.0;
    if (!possible && impossible < 0) impossible = t;
  }
  return impossible;
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

void log_expected_counts(Symbols symbols, const Tables& logs, Matrix alpha, Reals surprise,
                         Matrix beta, RealsOut starts, MatrixOut transitions, MatrixOut emissions) {
  const i64 n_states = logs.trans.shape[0];
  for (i64 t = 0; t < symbols.size(); t++) {
    const i64 symbol = emission_row(symbols[t], logs);
    const double *now = alpha.row(t), *later = beta.row(t);
    // log P(symbols after t | symbols up to t); from here, so that rounding errors cancel.
    const double rest = log_sum_exp(n_states, [&](i64 k) { return now[k] + later[k]; });
    for (i64 k = 0; k < n_states; k++) {
      const double gamma = std::exp(now[k] + later[k] - rest);
      emissions.row(symbol)[k] += gamma;
      if (t == 0) {
        starts[k] += gamma;
        continue;
      }
      const double scaled = logs.emit.row(symbol)[k] + surprise[t] + later[k] - rest;
      for (i64 i = 0; i < n_states; i++)
        transitions.row(i)[k] += std::exp(alpha.row(t - 1)[i] + logs.trans.row(i)[k] + scaled);
    }
  }
}

}  // namespace cohmm
