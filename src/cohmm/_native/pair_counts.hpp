// Counting what follows what, within sequences; codes below 0 are missing and take part in nothing.
//
// Sequence s is symbols[offsets[s]:offsets[s + 1]]; `part` is the range of symbols in which a pair
// or a triple starts.
#pragma once
#include <optional>

#include "arrays.hpp"

namespace cohmm {
using Keys = View<const u32, 1>;

// counts[y[t], y[t + lag]] += weights[s] for every pair; alone[y[t]] likewise for the symbols that
// begin no pair, so that all symbols are counted.  NumPy, for each sequence y:
//
//     np.add.at(counts, (y[:-lag], y[lag:]), weights[s])
//
// Counts are whole numbers or reals, and so are weights; without weights, all are 1.
template <class T>
void count_dense(Symbols symbols, Indices offsets, Part part, i64 lag,
                 std::optional<View<const T, 1>> weights, View<T, 2> counts, View<T, 1> alone);

// sizes[a] += 1 for every pair (a, b); alone as above.
void count_rows(Symbols symbols, Indices offsets, Part part, i64 lag, IndicesOut sizes,
                IndicesOut alone);

// Rows in contiguous buckets, the number of which is returned.  A bucket has at most most_rows, and
// at most most_pairs but for a row that has more by itself.
i64 cut_rows(Indices sizes, i64 most_pairs, i64 most_rows, SymbolsOut bucket_of);

// keys[place[bucket_of[a]]++] = (a - first_row[bucket_of[a]]) * N + b for every pair (a, b): 32
// bits must hold it.
void fill_buckets(Symbols symbols, Indices offsets, Part part, i64 lag, Symbols bucket_of,
                  Indices first_row, i64 n_symbols, IndicesOut place, View<u32, 1> keys);

// keys[:] = keys[np.argsort(keys >> lowest, kind="stable")], with space for as many.
template <class T>
void radix_sort(View<T, 1> keys, i64 lowest, View<T, 1> space);

// len(np.unique(keys)) of sorted keys.
i64 count_distinct(Keys keys);

// columns, counts = np.unique(keys % N, ...) within the rows keys // N of a sorted bucket, both as
// long as count_distinct says; sizes and totals are those of its rows.
void merge_equal(Keys keys, i64 n_symbols, SymbolsOut columns, IndicesOut counts, IndicesOut sizes,
                 IndicesOut totals);

// counts[(a * N + b) * N + c] += 1 for every triple (a, b, c).
void count_triples(Symbols symbols, Indices offsets, Part part, i64 n_symbols, IndicesOut counts);

// The keys (a * N + b) * N + c of the triples, in order; returns how many there are.
i64 triple_keys(Symbols symbols, Indices offsets, Part part, i64 n_symbols, IndicesOut keys);
}  // namespace cohmm
