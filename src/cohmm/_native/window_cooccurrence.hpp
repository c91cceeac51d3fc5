// In how many sliding windows the top words of a topic stand, alone and two by two.
#pragma once
#include <tuple>

#include "arrays.hpp"

namespace cohmm {

// Word w is relevant number r = number[w], or none if that is negative; it is word places[s] of
// topic topics[s] for every s in borders[r]:borders[r + 1].
struct TopWords {
  Indices number, borders, topics, places;
  static constexpr const char* names[] = {"number", "borders", "topics", "places"};
  auto fields() { return std::tie(number, borders, topics, places); }
};

// Adds the windows of the documents in part to joint; returns how many there are.
//
// A window is `window` words in a row; a document of fewer words is one window.  joint[k, i, j]
// counts the windows that have both the words i and j of topic k, in any number.  Python, for topic
// k with the words v:
//
//     for each window: there = np.isin(v, window); joint[k] += np.outer(there, there)
//
// The windows that have a word are few intervals of window numbers, so that a document costs in
// proportion to its words and to the pairs of them, not to its windows.
i64 window_cooccurrence(Symbols symbols, Indices offsets, Part part, i64 window,
                        const TopWords& top_words, View<i64, 3> joint);

}  // namespace cohmm
