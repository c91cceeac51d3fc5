#include "window_cooccurrence.hpp"

#include <algorithm>
#include <vector>

namespace cohmm {
namespace {

constexpr i64 NONE = -1;

struct Interval {
  i64 first, last;  // numbers of windows
  i64 next;         // the following one of the same word
};

// The windows that have each of the relevant words of a document, as ascending intervals.
struct WordWindows {
  std::vector<Interval> intervals;
  std::vector<i64> head, tail;  // of every relevant word: its first and last interval
  std::vector<i64> present;     // the relevant words that the document has

  explicit WordWindows(i64 n_relevant) : head(n_relevant, NONE), tail(n_relevant, NONE) {}

  void clear() {
    for (i64 r : present) head[r] = NONE;
    present.clear();
    intervals.clear();
  }

  void add(i64 r, i64 first, i64 last) {
    if (head[r] != NONE && first <= intervals[tail[r]].last + 1) {
      intervals[tail[r]].last = last;
      return;
    }
    const i64 here = i64(intervals.size());
    if (head[r] == NONE) {
      head[r] = here;
      present.push_back(r);
    } else {
      intervals[tail[r]].next = here;
    }
    tail[r] = here;
    intervals.push_back({first, last, NONE});
  }

  // How many windows have both words.
  i64 overlap(i64 r, i64 s) const {
    i64 a = head[r], b = head[s], total = 0;
    while (a != NONE && b != NONE) {
      const Interval &x = intervals[a], &y = intervals[b];
      total += std::max<i64>(0, std::min(x.last, y.last) - std::max(x.first, y.first) + 1);
      if (x.last < y.last) a = x.next;
      else b = y.next;
    }
    return total;
  }
};

}  // namespace

i64 window_cooccurrence(Symbols symbols, Indices offsets, Part part, i64 window,
                        const TopWords& top_words, View<i64, 3> joint) {
  struct Present {
    i64 place, word;  // in the topic, and the relevant number
  };
  const auto& [number, borders, topics, places] = top_words;
  const i64 n_top = joint.shape[1];
  WordWindows windows(borders.size() - 1);
  std::vector<std::vector<Present>> of_topic(joint.size());
  std::vector<i64> touched;
  i64 total = 0;
  for (i64 d = part.first; d < part.last; d++) {
    const i64 length = offsets[d + 1] - offsets[d];
    const i64 n_windows = std::max<i64>(1, length - window + 1);
    total += n_windows;
    windows.clear();
    for (i64 t = 0; t < length; t++) {
      const i32 word = symbols[offsets[d] + t];
      if (word < 0 || number[word] < 0) continue;
      windows.add(number[word], std::max<i64>(0, t - window + 1), std::min(t, n_windows - 1));
    }
    for (i64 r : windows.present)
      for (i64 s = borders[r]; s < borders[r + 1]; s++) {
        if (of_topic[topics[s]].empty()) touched.push_back(topics[s]);
        of_topic[topics[s]].push_back({places[s], r});
      }
    for (i64 k : touched) {
      i64* counts = joint.row(k);
      for (const Present& a : of_topic[k])
        for (const Present& b : of_topic[k]) {
          const i64 both = windows.overlap(a.word, b.word);
          counts[a.place * n_top + b.place] += both;
          if (&a == &b) break;
          counts[b.place * n_top + a.place] += both;
        }
      of_topic[k].clear();
    }
    touched.clear();
  }
  return total;
}

}  // namespace cohmm
