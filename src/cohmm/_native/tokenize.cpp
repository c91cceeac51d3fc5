#include "tokenize.hpp"

namespace cohmm {
namespace {

bool is_blank(u8 byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

struct Character {
  int width;  // in bytes
  u32 number;
};

Character character_at(const u8* p) {
  const u32 first = p[0];
  if (first < 0x80) return {1, first};
  u32 number = p[1] & 0x3F;
  if (first < 0xE0) return {2, (first & 0x1F) << 6 | number};
  number = number << 6 | (p[2] & 0x3F);
  if (first < 0xF0) return {3, (first & 0x0F) << 12 | number};
  return {4, (first & 0x07) << 18 | number << 6 | (p[3] & 0x3F)};
}

}  // namespace

i64 split_words(Bytes data, Indices borders, View<u8, 1> packed, IndicesOut offsets,
                SymbolsOut rows) {
  i64 n = 0, size = 0;
  offsets[0] = 0;
  for (i64 r = 0; r + 1 < borders.size(); r++) {
    auto end_word = [&] {
      if (size == offsets[n]) return;
      rows[n++] = i32(r);
      offsets[n] = size;
    };
    for (i64 i = borders[r]; i < borders[r + 1]; i++) {
      if (is_blank(data[i])) end_word();
      else packed[size++] = data[i];
    }
    end_word();
  }
  return n;
}

i64 split_text(Bytes data, Indices borders, View<const bool, 1> in_words, i64 min_length,
               View<u8, 1> packed, IndicesOut offsets, IndicesOut lengths) {
  i64 n = 0, size = 0;
  offsets[0] = 0;
  for (i64 r = 0; r + 1 < borders.size(); r++) {
    const i64 before = n;
    i64 length = 0;  // of a word, in characters
    auto end_word = [&] {
      if (length >= min_length) offsets[++n] = size;
      size = offsets[n];  // what is too short is written over
      length = 0;
    };
    for (i64 i = borders[r]; i < borders[r + 1];) {
      const auto [width, number] = character_at(data.data + i);
      if (in_words[number]) {
        for (int b = 0; b < width; b++) packed[size++] = data[i + b];
        length++;
      } else if (length > 0) {
        end_word();
      }
      i += width;
    }
    end_word();
    lengths[r] = n - before;
  }
  return n;
}

}  // namespace cohmm
