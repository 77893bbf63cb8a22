#include "taeda/vision/grid.h"

#include <algorithm>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/cairo.h"
#include "taeda/vision/font.h"

namespace taeda::inline v0_2::vision {

namespace {

/// (N, C, H, W) with at least three channels.
Tensor as_batch(Tensor t) {
  if (t.dim() == 2) t = t.unsqueeze(0);
  if (t.dim() == 3) t = t.unsqueeze(0);
  TAEDA_CHECK_VALUE(t.dim() == 4, "make_grid expects pictures of 2, 3 or 4 dimensions, got shape ",
                    t.sizes());
  return t.size(1) == 1 ? t.expand({-1, 3, -1, -1}) : t;
}

void normalize_picture(const Tensor& t, const GridOptions& options) {
  const double low = options.value_range ? options.value_range->first : t.min().item<double>();
  const double high = options.value_range ? options.value_range->second : t.max().item<double>();
  t.clamp_(low, high).sub_(low).div_(std::max(high - low, 1e-5));
}

void check_canvas(const char* op, const Tensor& t) {
  TAEDA_CHECK_VALUE(t.dtype() == kByte && t.dim() == 3 && t.size(0) == 3 && t.is_cpu(), op,
                    " expects a uint8 picture (3, height, width) on the CPU");
}

void set_pixel(const Tensor& t, int64_t x, int64_t y, Color color) {
  if (x < 0 || y < 0 || x >= t.size(2) || y >= t.size(1)) return;
  uint8_t* p = t.data_ptr<uint8_t>() + y * t.stride(1) + x * t.stride(2);
  p[0] = color.red;
  p[t.stride(0)] = color.green;
  p[2 * t.stride(0)] = color.blue;
}

}  // namespace

Tensor make_grid(const Tensor& pictures, const GridOptions& options) {
  const NoGradGuard no_grad;
  TAEDA_CHECK_VALUE(options.nrow > 0 && options.padding >= 0,
                    "make_grid expects nrow > 0 and padding >= 0, got ", options.nrow, " and ",
                    options.padding);
  Tensor batch = as_batch(pictures);
  if (options.normalize) {
    TAEDA_CHECK_TYPE(batch.is_floating_point(),
                     "make_grid can normalize floating point pictures only, got ",
                     dtype_name(batch.dtype()));
    batch = batch.clone(MemoryFormat::Contiguous);
    if (options.scale_each)
      for (int64_t i = 0; i < batch.size(0); ++i) normalize_picture(batch.select(0, i), options);
    else
      normalize_picture(batch, options);
  }
  const int64_t n = batch.size(0), pad = options.padding;
  TAEDA_CHECK_VALUE(n > 0, "make_grid expects at least one picture");
  if (n == 1) return batch.select(0, 0).contiguous();
  TAEDA_CHECK_VALUE(pad < INT32_MAX, "make_grid expects a padding of less than 2^31 pixels, got ",
                    pad);
  const int64_t columns = std::min(options.nrow, n), rows = (n + columns - 1) / columns;
  const int64_t height = batch.size(2) + pad, width = batch.size(3) + pad;
  Tensor grid = full({batch.size(1), height * rows + pad, width * columns + pad}, options.pad_value,
                     batch.options());
  for (int64_t i = 0; i < n; ++i)
    grid.narrow(1, i / columns * height + pad, height - pad)
        .narrow(2, i % columns * width + pad, width - pad)
        .copy_(batch.select(0, i));
  return grid;
}

void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color) {
  check_canvas("draw_text", picture);
  for (char c : text) {
    const Glyph& glyph = glyph_of(c);
    for (int64_t row = 0; row < kGlyphHeight; ++row)
      for (int64_t column = 0; column < kGlyphWidth; ++column)
        if (glyph.rows[row] >> (kGlyphWidth - 1 - column) & 1)
          set_pixel(picture, x + column, y + row, color);
    x += kCharacterWidth;
  }
}

void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color,
               double size) {
  check_canvas("draw_text", picture);
  TAEDA_CHECK_VALUE(size >= 1 && size <= 1000, "draw_text expects a size from 1 to 1000, got ",
                    size);
  if (detail::write_text(picture, x, y, text, color, size)) return;
  const double above = (1.2 * size - static_cast<double>(kGlyphHeight)) / 2;
  draw_text(picture, x, y + std::max<int64_t>(0, std::lround(above)), text, color);
}

void draw_frame(const Tensor& picture, int64_t x, int64_t y, int64_t w, int64_t h,
                int64_t thickness, Color color) {
  check_canvas("draw_frame", picture);
  for (int64_t j = 0; j < h; ++j)
    for (int64_t i = 0; i < w; ++i)
      if (i < thickness || j < thickness || i >= w - thickness || j >= h - thickness)
        set_pixel(picture, x + i, y + j, color);
}

Tensor enlarge(const Tensor& picture, int64_t factor) {
  TAEDA_CHECK_VALUE(picture.dim() >= 2 && factor > 0,
                    "enlarge expects at least two dimensions and a positive factor");
  DimVector expanded(picture.sizes()), result(picture.sizes());
  const size_t n = result.size();
  result[n - 2] = (CheckedInt(result[n - 2]) * factor).value("enlarge");
  result[n - 1] = (CheckedInt(result[n - 1]) * factor).value("enlarge");
  // (..., h, w) -> (..., h, factor, w, factor), the new dimensions without a step.
  expanded.insert(n - 1, factor);
  expanded.push_back(factor);
  return picture.unsqueeze(-2).unsqueeze(-1).expand(expanded).reshape(result);
}

}  // namespace taeda::inline v0_2::vision
