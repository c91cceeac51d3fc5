// Sums of sparse counts, five bytes per entry: a count up to 255 is a byte; a larger one is the
// byte 0, and stands in a list of its own, in the order of the entries.
#pragma once
#include <tuple>
#include <utility>

#include "arrays.hpp"

namespace cohmm {

// Entries of rows: columns in order, and how often each occurs.
struct PackedEntries {
  SymbolsOut columns;
  View<u8, 1> small;
  IndicesOut large;
  SymbolsOut widths, n_large;  // how many entries and large counts a row has
  static constexpr const char* names[] = {"columns", "small", "large", "widths", "n_large"};
  auto fields() { return std::tie(columns, small, large, widths, n_large); }
};

// The same rows of several parts.  Row i of part j is in columns[starts[j, i]:starts[j, i + 1]],
// and its large counts begin at large_starts[j, i].
struct PackedParts {
  IndexTable starts, large_starts;
  Symbols columns;
  Bytes small;
  Indices large;
  static constexpr const char* names[] = {"starts", "large_starts", "columns", "small", "large"};
  auto fields() { return std::tie(starts, large_starts, columns, small, large); }
};

// The distinct keys of a bucket, in order, as merge_equal; out.large needs a place for every 256
// keys.  Returns how many were used.
i64 pack_equal(View<u32, 1> keys, i64 n_symbols, const PackedEntries& out, IndicesOut totals);

// Entries as numbers: row, column, and count, of a byte.  Column c becomes places[c], or goes where
// that is below 0, and stays where there are no places; a row goes where `kept` is not set.
// Returns how many keys and large counts there are.
std::pair<i64, i64> entry_keys(const PackedParts& parts, Symbols places, View<const bool, 1> kept,
                               View<u64, 1> keys, View<u64, 1> large_keys, IndicesOut large_counts);

// The sum of entries whose keys were sorted; large_counts are in the order of their keys.  Returns
// the entries and large counts written.
std::pair<i64, i64> sum_keys(View<u64, 1> keys, Indices large_counts, const PackedEntries& out);

}  // namespace cohmm
