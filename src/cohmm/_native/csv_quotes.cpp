#include "csv_quotes.hpp"

namespace cohmm {

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

}  // namespace cohmm
