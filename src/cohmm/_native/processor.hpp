// What the processor can do, asked of it directly: not every compiler brings
// __builtin_cpu_supports.
#pragma once
#ifdef COHMM_X86
#include <cpuid.h>

#include <initializer_list>

namespace cohmm {

// Whether all of some bits are set.
constexpr bool has_bits(unsigned value, std::initializer_list<int> bits) {
  for (int bit : bits)
    if (!(value >> bit & 1)) return false;
  return true;
}

// The level of x86-64, 1 to 4, as the psABI defines them, that processor and system have.
inline int processor_level() {
  unsigned a, b, c, d, c1 = 0, b7 = 0, c_extended = 0, states = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) c1 = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) b7 = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) c_extended = c;
  // Which registers the system keeps: of SSE and AVX bits 1 and 2, of AVX-512 bits 5 to 7.
  if (has_bits(c1, {27})) asm("xgetbv" : "=a"(states), "=d"(d) : "c"(0));
  // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF
  if (!has_bits(c1, {0, 9, 13, 19, 20, 23}) || !has_bits(c_extended, {0})) return 1;
  // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT
  if (!has_bits(c1, {12, 22, 28, 29}) || !has_bits(b7, {3, 5, 8}) || !has_bits(c_extended, {5}) ||
      !has_bits(states, {1, 2}))
    return 2;
  // AVX-512 F, DQ, CD, BW, VL
  return has_bits(b7, {16, 17, 28, 30, 31}) && has_bits(states, {5, 6, 7}) ? 4 : 3;
}

}  // namespace cohmm
#else
namespace cohmm {
inline int processor_level() { return 0; }
}  // namespace cohmm
#endif
