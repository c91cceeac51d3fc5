// In how many sliding windows the top words of a topic stand, alone and two by two.
#include <algorithm>
#include <vector>

#include "plain.hpp"

namespace cohmm {
namespace {

struct Interval {
  i64 first, last;  // numbers of windows
};
using Intervals = std::vector<Interval>;  // ascending, with gaps between them

// How many windows are in both.
i64 overlap(const Intervals& a, const Intervals& b) {
  i64 total = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    total += std::max<i64>(0, std::min(x->last, y->last) - std::max(x->first, y->first) + 1);
    if (x->last < y->last) ++x;
    else ++y;
  }
  return total;
}

}  // namespace

i64 window_cooccurrence(Symbols symbols, Indices offsets, Part part, i64 window,
                        const TopWords& top_words, View<i64, 3> joint) {
  struct Present {
    i64 place, word;  // in the topic, and the relevant number
  };
  const auto& [number, borders, topics, places] = top_words;
  const i64 n_top = joint.shape[1];
  std::vector<Intervals> windows(borders.size() - 1);  // that have each relevant word
  std::vector<std::vector<Present>> of_topic(joint.size());
  std::vector<i64> present, touched;  // relevant words and topics of a document
  i64 total = 0;
  for (i64 d = part.first; d < part.second; d++) {
    const i64 length = offsets[d + 1] - offsets[d];
    const i64 n_windows = std::max<i64>(1, length - window + 1);
    total += n_windows;
    for (i64 t = 0; t < length; t++) {
      const i32 word = symbols[offsets[d] + t];
      if (word < 0 || number[word] < 0) continue;
      Intervals& own = windows[number[word]];
      const Interval here{std::max<i64>(0, t - window + 1), std::min(t, n_windows - 1)};
      if (own.empty()) present.push_back(number[word]);
      if (own.empty() || here.first > own.back().last + 1) own.push_back(here);
      else own.back().last = here.last;
    }
    for (i64 r : present)
      for (i64 s = borders[r]; s < borders[r + 1]; s++) {
        if (of_topic[topics[s]].empty()) touched.push_back(topics[s]);
        of_topic[topics[s]].push_back({places[s], r});
      }
    for (i64 k : touched) {
      i64* counts = joint.row(k);
      for (const Present& a : of_topic[k])
        for (const Present& b : of_topic[k]) {
          const i64 both = overlap(windows[a.word], windows[b.word]);
          counts[a.place * n_top + b.place] += both;
          if (&a == &b) break;
          counts[b.place * n_top + a.place] += both;
        }
      of_topic[k].clear();
    }
    for (i64 r : present) windows[r].clear();
    present.clear();
    touched.clear();
  }
  return total;
}

}  // namespace cohmm
