// What the kernels of documents are given, read from attributes of the same names.
#pragma once
#include <tuple>

#include "arrays.hpp"

namespace cohmm {

// The chain that all documents share: see document_chains.hpp.  Without `rows` it is sticky.
struct DocumentChain {
  Matrix emission;  // (V, K)
  Reals prior;      // (K,): pseudo-counts of a document's topics
  double switch_rate;
  Matrix rows;  // (K, K): pseudo-counts of a document's transitions
  static constexpr const char* names[] = {"emission", "prior", "switch", "rows"};
  auto fields() { return std::tie(emission, prior, switch_rate, rows); }
};

// What the chains of documents say; where topics and posteriors have no room, they are left out.
struct Reading {
  MatrixOut shares;          // (D, K)
  RealsOut log_likelihoods;  // (D,)
  SymbolsOut topics;         // (T,) or (0,)
  RealsOut probabilities;    // (T,) or (0,)
  MatrixOut posteriors;      // (T, K) or (0, K)
  static constexpr const char* names[] = {"shares", "log_likelihoods", "topics", "probabilities",
                                          "posteriors"};
  auto fields() { return std::tie(shares, log_likelihoods, topics, probabilities, posteriors); }
};

}  // namespace cohmm
