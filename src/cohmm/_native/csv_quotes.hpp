// Quotes in CSV: where they open, and whether they close.
#pragma once
#include "arrays.hpp"

namespace cohmm {
// Where in a cell a byte may be; the same numbers stand in kernels/csv_quotes.py.
enum Place : i64 { BEGIN, PLAIN, QUOTED, CLOSED };

// Follows the cells of CSV through data; whether no quote closes in the midst of a cell.
//
// `state` is (place, line, line of the last opening quote), and goes on from one call to the next.
// A quote opens at the beginning of a cell alone, and two of them in a quoted cell are one that is
// meant.  That text follows a closing quote is tolerated, except where the quote opened in another
// line: it was then not meant to close here.
bool follow_quotes(Bytes data, i64 delimiter, IndicesOut state);
}  // namespace cohmm
