// Counting what follows what; -1 is missing.  Nothing here gains from wide vectors.
#pragma once
#include "arrays.hpp"

namespace cohmm {
using Keys = View<u32, 1>;
void count_dense(Symbols symbols, Indices offsets, Part part, i64 lag, IndexTableOut counts,
                 IndicesOut alone);
void count_rows(Symbols symbols, Indices offsets, Part part, i64 lag, IndicesOut sizes,
                IndicesOut alone);
i64 cut_rows(Indices sizes, i64 most_pairs, i64 most_rows, SymbolsOut bucket_of);
void fill_buckets(Symbols symbols, Indices offsets, Part part, i64 lag, Symbols bucket_of,
                  Indices first_row, i64 n_symbols, IndicesOut place, Keys keys);
template <class T>
void radix_sort(View<T, 1> keys, i64 lowest, View<T, 1> space);  // of u32 and u64
i64 count_distinct(Keys keys);
void merge_equal(Keys keys, i64 n_symbols, SymbolsOut columns, IndicesOut counts, IndicesOut sizes,
                 IndicesOut totals);
}  // namespace cohmm
