// The kernels that are compiled once: counting, text and draws.
#pragma once
#include <optional>

#include "arguments.hpp"

namespace cohmm {

// -- pair_counts.cpp: what follows what, within sequences.  Sequence s is
// symbols[offsets[s]:offsets[s + 1]]; codes below 0 are missing and take part in nothing; `part` is
// the range of symbols in which a pair or a triple starts.

// counts[y[t], y[t + lag]] += weights[s] for every pair; alone[y[t]] likewise for the symbols that
// begin no pair, so that all symbols are counted.  NumPy, for each sequence y:
//
//     np.add.at(counts, (y[:-lag], y[lag:]), weights[s])
//
// Counts are whole numbers or reals, and so are weights; without weights, all are 1.
template <class T>
void count_dense(Symbols symbols, Indices offsets, Part part, i64 lag,
                 std::optional<View<const T, 1>> weights, View<T, 2> counts, View<T, 1> alone);

// sizes[a] += 1 for every pair (a, b); alone as above.
void count_rows(Symbols symbols, Indices offsets, Part part, i64 lag, IndicesOut sizes,
                IndicesOut alone);

// Rows in contiguous buckets, the number of which is returned.  A bucket has at most most_rows, and
// at most most_pairs but for a row that has more by itself.
i64 cut_rows(Indices sizes, i64 most_pairs, i64 most_rows, SymbolsOut bucket_of);

// keys[place[bucket_of[a]]++] = (a - first_row[bucket_of[a]]) * N + b for every pair (a, b): 32
// bits must hold it.
void fill_buckets(Symbols symbols, Indices offsets, Part part, i64 lag, Symbols bucket_of,
                  Indices first_row, i64 n_symbols, IndicesOut place, View<u32, 1> keys);

// The keys (a * N + b) * N + c of the triples (a, b, c), in order; returns how many there are.
i64 triple_keys(Symbols symbols, Indices offsets, Part part, i64 n_symbols, IndicesOut keys);

// Sums of sparse counts have five bytes per entry.  A count up to 255 is a byte; a larger one is
// the byte 0, and stands in a list of its own, in the order of the entries.

// columns, counts = np.unique(keys % N, return_counts=True) within the rows keys // N of a sorted
// bucket, as many as out.columns has, and how much each row adds up to.  out.large needs a
// place for every 256 keys; returns how many were used.
i64 pack_equal(View<const u32, 1> keys, i64 n_symbols, const PackedEntries& out, IndicesOut totals);

// Entries as numbers: row, column, and count, of a byte.  Column c becomes places[c], or goes where
// that is below 0, and stays where there are no places; a row goes where `kept` is not set.
// Returns how many keys and large counts there are.
std::pair<i64, i64> entry_keys(const PackedParts& parts, Symbols places, Flags kept,
                               View<u64, 1> keys, View<u64, 1> large_keys, IndicesOut large_counts);

// The sum of entries whose keys were sorted; large_counts are in the order of their keys.  Returns
// the entries and large counts written.
std::pair<i64, i64> sum_keys(View<u64, 1> keys, Indices large_counts, const PackedEntries& out);

// -- log_domain.cpp: one sequence in logarithms: slow, and right where doubles underflow.

// alpha[t, k] = log P(state k at t | symbols up to t), (T, K), or the last of them alone, (1, K).
// surprise[t] = -log P(symbols[t] | symbols before), (T,): 0 where missing, and infinite where
// impossible, which is passed over.  Returns the first impossible place, or -1.
i64 log_filter(Symbols symbols, const Tables& logs, MatrixOut alpha, RealsOut surprise);
// beta[t, k] = log P(symbols after t | state k at t), (T, K).
void log_backward(Symbols symbols, const Tables& logs, MatrixOut beta);
// Add the expected counts of the sequence to starts (K,), transitions (K, K), emissions (N + 1, K).
void log_expected_counts(Symbols symbols, const Tables& logs, Matrix alpha, Reals surprise,
                         Matrix beta, RealsOut starts, MatrixOut transitions, MatrixOut emissions);

// -- sampling.cpp: bit for bit the same on every machine, so nothing is fused or reordered.

// Walker's alias tables of every row: column c of a row is drawn where a uniform number falls into
// its cell below cut[c], alias[c] where it falls above.  sum_c [cut[c] at c, 1 - cut[c] at
// alias[c]] / n are the probabilities.
void alias_tables(Matrix probabilities, MatrixOut cut, View<i32, 2> alias);

// Walk the chain from `state`, the first to emit; uniforms[t] says what is emitted at t, and where
// the chain goes next.  Returns the state after the last symbol.
i64 sample_path(i64 state, Matrix uniforms, const AliasTables& tables, SymbolsOut symbols,
                SymbolsOut states);

// Draw a path from its law given the symbols, by forward filtering and backward sampling: with f[t]
// the filtered law at t, start (K,), trans (K, K) and emit (K, N),
//   w = f[t] * trans[:, states[t + 1]];  states[t] = searchsorted(cumsum(w), uniforms[t] * w.sum())
void draw_states(Symbols symbols, Indices offsets, Reals start, Matrix trans, Matrix emit,
                 Reals uniforms, SymbolsOut states);

// -- window_cooccurrence.cpp: in how many sliding windows the top words of a topic stand.

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

// -- text.cpp: rows of UTF-8, row r being data[borders[r]:borders[r + 1]], cut into words.  These
// go to `packed` one after the other, and word w ends there at offsets[w + 1].

// [(r, word) for r, row in enumerate(rows) for word in row.split()], with bytes as rows: blanks are
// the ASCII ones.  Word w stands in rows[w]; returns how many there are.
i64 split_words(Bytes data, Indices borders, BytesOut packed, IndicesOut offsets, SymbolsOut rows);

// re.findall(r"\w{min_length,}", row) of every row, where in_words[c] says whether \w has character
// c.  Row r has lengths[r] words; returns how many there are.  Data is valid UTF-8.
i64 split_text(Bytes data, Indices borders, Flags in_words, i64 min_length, BytesOut packed,
               IndicesOut offsets, IndicesOut lengths);

// Where in a cell of CSV a byte may be; the same numbers stand in kernels/text.py.
enum Place : i64 { BEGIN, PLAIN, QUOTED, CLOSED };

// Follows the cells of CSV through data; whether no quote closes in the middle of a cell.
//
// `state` is (place, line, line of the last opening quote), and goes on from one call to the next.
// A quote opens at the beginning of a cell alone, and two of them in a quoted cell are one that is
// meant.  That text follows a closing quote is tolerated, except where the quote opened in another
// line: it was then not meant to close here.
bool follow_quotes(Bytes data, i64 delimiter, IndicesOut state);

// Words as codes: symbols[offsets[d]:offsets[d + 1]] are those of document d, and codes below 0 are
// no words.
//
// frequencies[w] += the number of documents that have word w:
//
//     sum(np.bincount(np.unique(d[d >= 0]), minlength=V) for d in documents)
//
// `latest` is space for one number per word, -1 to begin with.
void count_documents(Symbols symbols, Indices offsets, IndicesOut frequencies, IndicesOut latest);

}  // namespace cohmm
