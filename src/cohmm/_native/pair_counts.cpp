#include "pair_counts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cohmm {
namespace {

// pair(a, b) for all pairs that start in part, none missing; single(a) for symbols that begin none.
template <class Pair, class Single>
void over_pairs(Symbols symbols, Indices offsets, Part part, i64 lag, Pair pair, Single single) {
  const i64* begin = offsets.data;
  i64 s = std::upper_bound(begin, begin + offsets.size(), part.first) - begin - 1;
  for (i64 t = part.first; t < part.last; s++) {
    const i64 end = std::min(offsets[s + 1], part.last);
    for (const i64 stop = std::min(offsets[s + 1] - lag, part.last); t < stop; t++) {
      const i32 a = symbols[t], b = symbols[t + lag];
      if (a >= 0 && b >= 0) pair(a, b);
      else if (a >= 0) single(a);
    }
    for (; t < end; t++)
      if (symbols[t] >= 0) single(symbols[t]);
  }
}

constexpr int DIGIT = 11;  // bits: so many counts fit the nearest cache

template <class T>
T digit(T key, int shift) { return key >> shift & ((T(1) << DIGIT) - 1); }

}  // namespace

void count_dense(Symbols symbols, Indices offsets, Part part, i64 lag, IndexTableOut counts,
                 IndicesOut alone) {
  over_pairs(symbols, offsets, part, lag, [&](i32 a, i32 b) { counts.row(a)[b]++; },
             [&](i32 a) { alone[a]++; });
}

void count_rows(Symbols symbols, Indices offsets, Part part, i64 lag, IndicesOut sizes,
                IndicesOut alone) {
  over_pairs(symbols, offsets, part, lag, [&](i32 a, i32) { sizes[a]++; },
             [&](i32 a) { alone[a]++; });
}

i64 cut_rows(Indices sizes, i64 most_pairs, i64 most_rows, SymbolsOut bucket_of) {
  i64 bucket = 0, n_rows = 0, n_pairs = 0;
  for (i64 row = 0; row < sizes.size(); row++) {
    if (n_rows == most_rows || (n_rows && n_pairs + sizes[row] > most_pairs)) {
      bucket++;
      n_rows = n_pairs = 0;
    }
    bucket_of[row] = i32(bucket);
    n_rows++;
    n_pairs += sizes[row];
  }
  return bucket + 1;
}

void fill_buckets(Symbols symbols, Indices offsets, Part part, i64 lag, Symbols bucket_of,
                  Indices first_row, i64 n_symbols, IndicesOut place, Keys keys) {
  over_pairs(symbols, offsets, part, lag,
             [&](i32 a, i32 b) {
               const i32 bucket = bucket_of[a];
               keys[place[bucket]++] = u32(a - first_row[bucket]) * u32(n_symbols) + u32(b);
             },
             [](i32) {});
}

template <class T>
void radix_sort(View<T, 1> keys, i64 lowest, View<T, 1> space) {
  const i64 n = keys.size();
  T *here = keys.data, *there = space.data, different = 0;
  for (i64 i = 0; i < n; i++) different |= keys[i] ^ keys[0];
  i64 counts[1 << DIGIT];
  for (int shift = int(lowest); shift < int(8 * sizeof(T)); shift += DIGIT) {
    if (digit(different, shift) == 0) continue;
    std::memset(counts, 0, sizeof counts);
    for (i64 i = 0; i < n; i++) counts[digit(here[i], shift)]++;
    i64 place = 0;
    for (i64& count : counts) place += std::exchange(count, place);
    for (i64 i = 0; i < n; i++) there[counts[digit(here[i], shift)]++] = here[i];
    std::swap(here, there);
  }
  if (here != keys.data) std::memcpy(keys.data, here, n * sizeof(T));
}
template void radix_sort(View<u32, 1>, i64, View<u32, 1>);
template void radix_sort(View<u64, 1>, i64, View<u64, 1>);

i64 count_distinct(Keys keys) {
  i64 n = std::min<i64>(keys.size(), 1);
  for (i64 i = 1; i < keys.size(); i++) n += keys[i] != keys[i - 1];
  return n;
}

void merge_equal(Keys keys, i64 n_symbols, SymbolsOut columns, IndicesOut counts, IndicesOut sizes,
                 IndicesOut totals) {
  const i64 n = keys.size();
  i64 run = 0, begin = 0, row = 0, base = 0;
  for (i64 i = 0; i < n; i++) {  // without a branch: where runs end is chance
    columns[run] = i32(i + 1);
    run += i + 1 < n && keys[i] != keys[i + 1];
  }
  for (i64 r = 0; r < columns.size(); r++) {
    const i64 end = columns[r], key = keys[begin];
    for (; key >= base + n_symbols; base += n_symbols) row++;
    sizes[row]++;
    columns[r] = i32(key - base);
    counts[r] = end - begin;
    totals[row] += end - begin;
    begin = end;
  }
}

}  // namespace cohmm
