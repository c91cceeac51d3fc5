// Passes over the words of documents: symbols[offsets[d]:offsets[d + 1]] are document d's, and
// codes below 0 are no words.
#pragma once
#include "arrays.hpp"

namespace cohmm {
// frequencies[w] += the number of documents that have word w:
//
//     sum(np.bincount(np.unique(d[d >= 0]), minlength=V) for d in documents)
//
// `latest` is space for one number per word, -1 to begin with.
void count_documents(Symbols symbols, Indices offsets, IndicesOut frequencies, IndicesOut latest);

// Gives word w the code places[w], in place, and takes out those of a code below 0; offsets move
// along.  Returns how many words are left.  For each document d:
//
//     codes = places[d[d >= 0]];  d = codes[codes >= 0]
i64 recode(SymbolsOut symbols, IndicesOut offsets, Symbols places);
}  // namespace cohmm
