// Bytes to words, cells of CSV, and in how many documents words are.
#include "plain.hpp"

namespace cohmm {
namespace {

bool is_blank(u8 byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

struct Character {
  int width;  // in bytes
  u32 number;
};

Character character_at(const u8* p) {
  if (*p < 0x80) return {1, *p};
  const int width = *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
  u32 number = *p & (0x7F >> width);
  for (int b = 1; b < width; b++) number = number << 6 | (p[b] & 0x3F);
  return {width, number};
}

}  // namespace

i64 split_words(Bytes data, Indices borders, BytesOut packed, IndicesOut offsets, SymbolsOut rows) {
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

i64 split_text(Bytes data, Indices borders, Flags in_words, i64 min_length, BytesOut packed,
               IndicesOut offsets, IndicesOut lengths) {
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

bool follow_quotes(Bytes data, i64 delimiter, IndicesOut state) {
  i64 place = state[0], line = state[1], opened = state[2];
  bool valid = true;
  for (i64 i = 0; i < data.size() && valid; i++) {
    const u8 byte = data[i];
    // Without a branch: where cells end is chance.
    const bool ends_cell = (byte == delimiter) | (byte == '\n') | (byte == '\r');
    line += byte == '\n';
    if (byte == '"') {
      if (place == BEGIN) opened = line;
      place = place == QUOTED ? CLOSED : place == PLAIN ? PLAIN : QUOTED;
    } else if (place != QUOTED) {
      if (place == CLOSED && !ends_cell) valid = opened == line || byte == ' ' || byte == '\t';
      if (valid) place = ends_cell ? BEGIN : PLAIN;
    }
  }
  state[0] = place;
  state[1] = line;
  state[2] = opened;
  return valid;
}

void count_documents(Symbols symbols, Indices offsets, IndicesOut frequencies, IndicesOut latest) {
  for (i64 d = 0; d + 1 < offsets.size(); d++)
    for (i64 t = offsets[d]; t < offsets[d + 1]; t++) {
      const i32 w = symbols[t];
      if (w < 0 || latest[w] == d) continue;
      latest[w] = d;
      frequencies[w]++;
    }
}

}  // namespace cohmm
