// Cutting rows of UTF-8 into words; row r is data[borders[r]:borders[r + 1]].
//
// The words go to `packed` one behind the other, and word w ends there at offsets[w + 1].
#pragma once
#include "arrays.hpp"

namespace cohmm {
// [(r, word) for r, row in enumerate(rows) for word in row.split()], with bytes as rows: blanks are
// the ASCII ones.  Word w stands in rows[w]; returns how many there are.
i64 split_words(Bytes data, Indices borders, View<u8, 1> packed, IndicesOut offsets,
                SymbolsOut rows);

// re.findall(r"\w{min_length,}", row) of every row, where in_words[c] says whether \w has character
// c.  Row r has lengths[r] words; returns how many there are.  Data is valid UTF-8.
i64 split_text(Bytes data, Indices borders, View<const bool, 1> in_words, i64 min_length,
               View<u8, 1> packed, IndicesOut offsets, IndicesOut lengths);
}  // namespace cohmm
