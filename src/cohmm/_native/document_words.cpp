#include "document_words.hpp"

namespace cohmm {

void count_documents(Symbols symbols, Indices offsets, IndicesOut frequencies, IndicesOut latest) {
  for (i64 d = 0; d + 1 < offsets.size(); d++)
    for (i64 t = offsets[d]; t < offsets[d + 1]; t++) {
      const i32 w = symbols[t];
      if (w < 0 || latest[w] == d) continue;
      latest[w] = d;
      frequencies[w]++;
    }
}

i64 recode(SymbolsOut symbols, IndicesOut offsets, Symbols places) {
  i64 left = 0, t = 0;
  for (i64 d = 0; d + 1 < offsets.size(); d++) {
    for (const i64 end = offsets[d + 1]; t < end; t++) {
      const i32 code = symbols[t] < 0 ? symbols[t] : places[symbols[t]];
      if (code >= 0) symbols[left++] = code;
    }
    offsets[d + 1] = left;
  }
  return left;
}

}  // namespace cohmm
