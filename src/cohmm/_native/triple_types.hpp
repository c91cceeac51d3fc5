// Triples as their pass reads them, from attributes of the same names.
#pragma once
#include <tuple>

#include "arrays.hpp"

namespace cohmm {

// A run is the triples from borders[r], all of which begin with before[r], middle[r].
struct TripleRuns {
  Indices borders, before, middle;
  Indices after;      // of every triple
  Reals probability;  // of every triple
  static constexpr const char* names[] = {"borders", "before", "middle", "after", "probability"};
  auto fields() { return std::tie(borders, before, middle, after, probability); }
};

// A sum over two of the symbols for each third, (N, K).
struct TripleSums {
  MatrixOut before, middle, after;
  static constexpr const char* names[] = {"before", "middle", "after"};
  auto fields() { return std::tie(before, middle, after); }
};

}  // namespace cohmm
