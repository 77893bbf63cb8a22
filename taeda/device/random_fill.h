// The loops of the CPU generator, compiled for several instruction sets with the same results: no
// fused multiply-add, no library functions.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::detail {

/// The next 624 words of the Mersenne Twister's recurrence, in place.
void mt19937_twist(uint32_t* state);
/// Its output function on 624 words.
void mt19937_temper(const uint32_t* state, uint32_t* out);
/// (x mod 2^24) * scale + from, with scale = (to - from) * 2^-24 applied as PyTorch does.
void bits_to_floats(const uint32_t* bits, float* out, int64_t n, float from, float to);
/// Of 64 `words` numbers whether their 53 bits, of two draws each with the upper first, are below
/// `limit`.
void bits_below(const uint32_t* draws, uint64_t* out, int64_t words, int64_t limit);
/// Box-Muller on blocks of 16 numbers in [0, 1): of each block, element j < 8 gives the radius and
/// element j + 8 the angle of the pair that replaces them.
void box_muller_blocks(float* data, int64_t blocks, float mean, float std);
void box_muller_blocks(double* data, int64_t blocks, double mean, double std);

}  // namespace taeda::detail
