#include "packed_rows.hpp"

namespace cohmm {
namespace {

constexpr i64 LARGEST_BYTE = 255;
constexpr int BYTE = 8, ROW = 40;  // bits below the column and below the row in a key
constexpr u64 COLUMN = 0xFFFFFFFF;

// Where entries go.  A byte might be a part of anything: the compiler is told that it is not.
struct Destination {
  i32* __restrict columns;
  u8* __restrict small;
  i64* __restrict large;
  i32* __restrict widths, * __restrict n_large;
  explicit Destination(const PackedEntries& out)
      : columns(out.columns.data),
        small(out.small.data),
        large(out.large.data),
        widths(out.widths.data),
        n_large(out.n_large.data) {}
};

}  // namespace

i64 pack_equal(View<u32, 1> keys, i64 n_symbols, const PackedEntries& out, IndicesOut totals) {
  const i64 n = keys.size();
  const Destination to(out);
  i64 run = 0, begin = 0, row = 0, base = 0, used = 0;
  for (i64 i = 0; i + 1 < n; i++) {  // without a branch: where runs end is chance
    to.columns[run] = i32(i + 1);
    run += keys[i] != keys[i + 1];
  }
  if (n > 0) to.columns[run] = i32(n);
  for (i64 r = 0; r < out.columns.size(); r++) {
    const i64 end = to.columns[r], key = keys[begin], count = end - begin;
    for (; key >= base + n_symbols; base += n_symbols) row++;
    to.columns[r] = i32(key - base);
    to.widths[row]++;
    totals[row] += count;
    to.small[r] = count <= LARGEST_BYTE ? u8(count) : u8(0);
    if (count > LARGEST_BYTE) {
      to.large[used++] = count;
      to.n_large[row]++;
    }
    begin = end;
  }
  return used;
}

std::pair<i64, i64> entry_keys(const PackedParts& parts, Symbols places, View<const bool, 1> kept,
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
  const Destination to(out);
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
