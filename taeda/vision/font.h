// A font of 5 x 7 dots.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::vision {

constexpr int64_t kGlyphWidth = 5, kGlyphHeight = 7;

/// Rows from the top; bit 4 of a row is its left dot.
struct Glyph {
  uint8_t rows[kGlyphHeight];
};

/// The picture of an ASCII character; a box for those that the font does not have.
const Glyph& glyph_of(char c);

}  // namespace taeda::vision
