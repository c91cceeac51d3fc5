// Arrays as kernels see them: where the numbers are, and the lengths of the axes.
#pragma once
#include <cstdint>
#include <utility>

#define INLINE inline __attribute__((always_inline))

namespace cohmm {
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// A C-contiguous array of D axes.  What is not wanted, None in Python, has no data and no length.
template <class T, int D>
struct View {
  T* data = nullptr;
  i64 shape[D] = {};

  INLINE i64 size() const { return shape[0]; }
  INLINE explicit operator bool() const { return data != nullptr; }
  INLINE T& operator[](i64 i) const { return data[i]; }
  INLINE View slice(i64 begin, i64 end) const { return {data + begin, {end - begin}}; }
  INLINE T* row(i64 i) const {
    i64 length = 1;
    for (int d = 1; d < D; d++) length *= shape[d];
    return data + i * length;
  }
};

using Reals = View<const double, 1>;
using Matrix = View<const double, 2>;
using Floats = View<const float, 1>;
using FloatMatrix = View<const float, 2>;
using Flags = View<const bool, 1>;
using Symbols = View<const i32, 1>;
using Indices = View<const i64, 1>;
using IndexTable = View<const i64, 2>;
using Bytes = View<const u8, 1>;
using FloatMatrixOut = View<float, 2>;
using RealsOut = View<double, 1>;
using MatrixOut = View<double, 2>;
using SymbolsOut = View<i32, 1>;
using IndicesOut = View<i64, 1>;
using IndexTableOut = View<i64, 2>;
using BytesOut = View<u8, 1>;

// The range of the work that a call does, from its first to before its second.
using Part = std::pair<i64, i64>;
}  // namespace cohmm
