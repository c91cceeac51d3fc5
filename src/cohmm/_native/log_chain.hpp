// Forward and backward of one sequence in logarithms: slow, and right where doubles underflow.
#pragma once
#include "chain.hpp"

namespace cohmm {
// The first place of the sequence that no path reaches, or -1.
i64 first_impossible(Symbols symbols, const Tables& logs);
// alpha[t, k] = log P(symbols up to t, state k at t), (T, K), or the last of them alone, (1, K);
// returns log P(symbols).
double log_forward(Symbols symbols, const Tables& logs, MatrixOut alpha);
// surprise[t] = -log P(symbols[t] | symbols before), (T,): infinite where impossible, 0 where
// missing.
void log_surprise(Symbols symbols, const Tables& logs, RealsOut surprise);
// beta[t, k] = log P(symbols after t | state k at t), (T, K).
void log_backward(Symbols symbols, const Tables& logs, MatrixOut beta);
// Add the expected counts of the sequence to starts (K,), transitions (K, K), emissions (N + 1, K).
void add_log_counts(Symbols symbols, const Tables& logs, Matrix alpha, Matrix beta, RealsOut starts,
                    MatrixOut transitions, MatrixOut emissions);
}  // namespace cohmm
