// What follows what, within sequences, and sums of such counts, five bytes per entry.
#include <algorithm>

#include "plain.hpp"

namespace cohmm {
namespace {

i64 sequence_at(Indices offsets, i64 place) {
  return std::upper_bound(offsets.data, offsets.data + offsets.size(), place) - offsets.data - 1;
}

// pair(s, a, b) for all pairs that start in part, none missing; single(s, a) for symbols that begin
// none.
template <class Pair, class Single>
void over_pairs(Symbols symbols, Indices offsets, Part part, i64 lag, Pair pair, Single single) {
  for (i64 t = part.first, s = sequence_at(offsets, t); t < part.second; s++) {
    const i64 end = std::min(offsets[s + 1], part.second);
    for (const i64 stop = std::min(offsets[s + 1] - lag, part.second); t < stop; t++) {
      const i32 a = symbols[t], b = symbols[t + lag];
      if (a >= 0 && b >= 0) pair(s, a, b);
      else if (a >= 0) single(s, a);
    }
    for (; t < end; t++)
      if (symbols[t] >= 0) single(s, symbols[t]);
  }
}

constexpr i64 LARGEST_BYTE = 255;
constexpr int BYTE = 8, ROW = 40;  // bits below the column and below the row in a key
constexpr u64 COLUMN = 0xFFFFFFFF;

// Where entries go.  A byte may alias anything, unless the pointers are restricted.
struct Destination {
  const PackedEntries& out;
  i32* __restrict columns = out.columns.data;
  u8* __restrict small = out.small.data;
  i64* __restrict large = out.large.data;
  i32* __restrict widths = out.widths.data, * __restrict n_large = out.n_large.data;
};

}  // namespace

template <class T>
void count_dense(Symbols symbols, Indices offsets, Part part, i64 lag,
                 std::optional<View<const T, 1>> weights, View<T, 2> counts, View<T, 1> alone) {
  auto weight = [&](i64 s) { return weights ? (*weights)[s] : T(1); };
  over_pairs(
      symbols, offsets, part, lag, [&](i64 s, i32 a, i32 b) { counts.row(a)[b] += weight(s); },
      [&](i64 s, i32 a) { alone[a] += weight(s); });
}
template void count_dense(Symbols, Indices, Part, i64, std::optional<Indices>, IndexTableOut,
                          IndicesOut);
template void count_dense(Symbols, Indices, Part, i64, std::optional<Reals>, MatrixOut, RealsOut);

void count_rows(Symbols symbols, Indices offsets, Part part, i64 lag, IndicesOut sizes,
                IndicesOut alone) {
  over_pairs(
      symbols, offsets, part, lag, [&](i64, i32 a, i32) { sizes[a]++; },
      [&](i64, i32 a) { alone[a]++; });
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
                  Indices first_row, i64 n_symbols, IndicesOut place, View<u32, 1> keys) {
  over_pairs(
      symbols, offsets, part, lag,
      [&](i64, i32 a, i32 b) {
        const i32 bucket = bucket_of[a];
        keys[place[bucket]++] = u32(a - first_row[bucket]) * u32(n_symbols) + u32(b);
      },
      [](i64, i32) {});
}

i64 pack_equal(View<const u32, 1> keys, i64 n_symbols, const PackedEntries& out,
               IndicesOut totals) {
  const Destination to{out};
  const i64 n = keys.size();
  i64 run = 0, begin = 0, row = 0, base = 0, n_large = 0;
  for (i64 i = 0; i + 1 < n; i++) {  // without a branch: where runs end is chance
    to.columns[run] = i32(i + 1);
    run += keys[i] != keys[i + 1];
  }
  if (n > 0) to.columns[run] = i32(n);
  for (i64 e = 0; e < out.columns.size(); e++) {
    const i64 end = to.columns[e], key = keys[begin], count = end - begin;
    for (; key >= base + n_symbols; base += n_symbols) row++;
    to.columns[e] = i32(key - base);
    to.widths[row]++;
    totals[row] += count;
    to.small[e] = count <= LARGEST_BYTE ? u8(count) : u8(0);
    if (count > LARGEST_BYTE) {
      to.large[n_large++] = count;
      to.n_large[row]++;
    }
    begin = end;
  }
  return n_large;
}

i64 triple_keys(Symbols symbols, Indices offsets, Part part, i64 n_symbols, IndicesOut keys) {
  i64 n = 0;
  for (i64 t = part.first, s = sequence_at(offsets, t); t < part.second; s++) {
    for (const i64 stop = std::min(offsets[s + 1] - 2, part.second); t < stop; t++) {
      const i64 a = symbols[t], b = symbols[t + 1], c = symbols[t + 2];
      if (a >= 0 && b >= 0 && c >= 0) keys[n++] = (a * n_symbols + b) * n_symbols + c;
    }
    t = offsets[s + 1];
  }
  return n;
}

std::pair<i64, i64> entry_keys(const PackedParts& parts, Symbols places, Flags kept,
                               View<u64, 1> keys, View<u64, 1> large_keys,
                               IndicesOut large_counts) {
  u64* __restrict to = keys.data;
  const i32* columns = parts.columns.data;
  const u8* small = parts.small.data;
  i64 n = 0, m = 0;
  const bool same = places.size() == 0;
  const i64 n_rows = parts.starts.shape[1] - 1;
  for (i64 j = 0; j < parts.starts.size(); j++) {
    const i64* starts = parts.starts.row(j);
    for (i64 i = 0; i < n_rows; i++) {
      if (!kept[i]) continue;
      i64 place = parts.large_starts.row(j)[i];
      for (i64 e = starts[i]; e < starts[i + 1]; e++) {
        const i32 c = same ? columns[e] : places[columns[e]];
        const u8 count = small[e];
        if (count == 0) {
          if (c >= 0) {
            large_keys[m] = u64(i) << ROW | u64(c) << BYTE;
            large_counts[m++] = parts.large[place];
          }
          place++;
        }
        to[n] = u64(i) << ROW | u64(u32(c)) << BYTE | count;
        n += c >= 0;
      }
    }
  }
  return {n, m};
}

std::pair<i64, i64> sum_keys(View<u64, 1> keys, Indices large_counts, const PackedEntries& out) {
  const Destination to{out};
  const i64 size = keys.size();
  i64 n = 0, m = 0, place = 0, total = 0;
  for (i64 t = 0; t < size; t++) {  // nothing is decided by a branch that is chance
    const u64 key = keys[t];
    i64 count = i64(key & LARGEST_BYTE);
    if (count == 0) count = large_counts[place++];
    total += count;
    const bool at_end = t + 1 == size;
    const u64 next = keys[at_end ? t : t + 1];
    const bool last = at_end | ((next ^ key) > u64(LARGEST_BYTE));
    const bool beyond = last & (total > LARGEST_BYTE);
    const i64 row = i64(key >> ROW);
    to.columns[n] = i32(key >> BYTE & COLUMN);
    to.small[n] = beyond ? u8(0) : u8(total);
    to.widths[row] += last;
    n += last;
    if (beyond) {
      to.large[m++] = total;
      to.n_large[row]++;
    }
    total = last ? 0 : total;
  }
  return {n, m};
}

}  // namespace cohmm
