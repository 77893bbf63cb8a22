// Sizes and pieces of pictures.
#include <algorithm>
#include <cmath>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/tensor_literal.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/functional.h"
#include "taeda/vision/pixels.h"
#include "taeda/vision/resize.h"

namespace taeda::inline v0_2::vision::transforms::functional {

namespace {

/// The shape of `image` with another height and width.
DimVector with_size(const Tensor& image, int64_t height, int64_t width) {
  DimVector sizes(image.sizes().begin(), image.sizes().end());
  sizes[sizes.size() - 2] = height;
  sizes[sizes.size() - 1] = width;
  return sizes;
}

/// For each place of a padded line of `n`, the place in the line that it continues.
Tensor outside(int64_t n, int64_t before, int64_t after, Continuation how, Device device) {
  TAEDA_CHECK_VALUE(how.mode == kReplicate || how.mode == kReflect,
                    "Padding mode should be either constant, edge, reflect or symmetric");
  std::vector<int64_t> places;
  const int64_t period = how.twice ? 2 * n : std::max<int64_t>(2 * n - 2, 1);
  for (int64_t i = -before; i < n + after; ++i) {
    const int64_t at = ((i % period) + period) % period;
    const bool edge = how.mode == kReplicate;
    places.push_back(edge     ? std::clamp<int64_t>(i, 0, n - 1)
                     : at < n ? at
                              : period - (how.twice ? 1 : 0) - at);
  }
  return tensor(places).to(device);
}

int64_t middle(int64_t n, int64_t wanted) {
  if (wanted > n) return -((wanted - n) / 2);
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(n - wanted) / 2));
}

Tensor inside(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  return image.narrow(-2, top, height).narrow(-1, left, width);
}

}  // namespace

std::vector<int64_t> sides_of(const std::vector<int64_t>& padding) {
  const size_t n = padding.size();
  TAEDA_CHECK_VALUE(n == 1 || n == 2 || n == 4,
                    "Padding must be an int or a 1, 2, or 4 element tuple, not a ", n,
                    " element tuple");
  return {padding[0], padding[n > 1 ? 1 : 0], padding[n > 2 ? 2 : 0], padding[n - 1]};
}

ImageSize resized(ImageSize size, int64_t shorter, std::optional<int64_t> max_size) {
  const int64_t least = std::max<int64_t>(std::min(size.height, size.width), 1);
  int64_t small = shorter;
  int64_t large = (CheckedInt(shorter) * std::max(size.height, size.width) / least).value("Resize");
  if (max_size) {
    TAEDA_CHECK_VALUE(*max_size > shorter, "max_size = ", *max_size,
                      " must be strictly greater than the requested size for the smaller edge "
                      "size = ",
                      shorter);
    if (large > *max_size) {
      small = *max_size * small / large;
      large = *max_size;
    }
  }
  return size.height <= size.width ? ImageSize(small, large) : ImageSize(large, small);
}

Tensor resize(const Tensor& image, ImageSize size, InterpolationMode interpolation,
              bool antialias) {
  const auto [height, width] = size;
  const int64_t h = image.size(-2), w = image.size(-1);
  if (height == h && width == w) return image;
  const Tensor flat = image.reshape({-1, h, w});
  const bool simple = image.device().type() == kCPU && !image.requires_grad() &&
                      (image.dtype() == kByte || image.dtype() == kFloat);
  using Mode = InterpolationMode;
  Tensor out;
  if (simple && interpolation == Mode::kNearest) {
    out = resize_nearest(flat, height, width);
  } else if (simple && interpolation == Mode::kBilinear) {
    out = resize_bilinear(flat, height, width, antialias);
  } else {
    const bool linear = interpolation == Mode::kBilinear || interpolation == Mode::kBicubic;
    nn::functional::InterpolateFuncOptions options;
    options.size(std::vector<int64_t>{height, width});
    options.mode(interpolation == Mode::kNearest    ? kNearest
                 : interpolation == Mode::kBilinear ? kBilinear
                 : interpolation == Mode::kBicubic  ? kBicubic
                                                    : kNearestExact);
    if (linear) options.align_corners(false);
    options.antialias(linear && antialias);
    out = nn::functional::interpolate(as_floats(flat).unsqueeze(0), options).squeeze(0);
    if (image.dtype() == kByte) out = out.clamp(0, 255);
    out = like_pixels(out, image);
  }
  return out.reshape(with_size(image, height, width));
}

Tensor pad(const Tensor& image, const std::vector<int64_t>& sides, const Fill& fill,
           Continuation continuation) {
  std::array<int64_t, 4> s{};
  std::array<int64_t, 4> cut{};
  for (size_t i = 0; i < 4; ++i) {
    s[i] = std::max<int64_t>(sides.at(i), 0);
    cut[i] = std::max<int64_t>(-sides[i], 0);
  }
  const Tensor kept = inside(image, cut[1], cut[0], image.size(-2) - cut[1] - cut[3],
                             image.size(-1) - cut[0] - cut[2]);
  const int64_t h = kept.size(-2), w = kept.size(-1);
  const auto sum = [](int64_t a, int64_t n, int64_t b) {
    return (CheckedInt(a) + n + b).value("pad");
  };
  if (continuation.mode != kConstant)
    return kept.index_select(-2, outside(h, s[1], s[3], continuation, image.device()))
        .index_select(-1, outside(w, s[0], s[2], continuation, image.device()));
  Tensor out = empty(with_size(kept, sum(s[1], h, s[3]), sum(s[0], w, s[2])), image.options());
  if (fill.size() > 1) {
    TAEDA_CHECK_VALUE(image.dim() > 2 && static_cast<int64_t>(fill.size()) == image.size(-3),
                      "The number of elements in 'fill' does not match the number of channels of "
                      "the image (",
                      fill.size(), " != ", image.dim() > 2 ? image.size(-3) : 1, ")");
    out.copy_(
        tensor(static_cast<const std::vector<double>&>(fill)).to(image.device()).view({-1, 1, 1}));
  } else {
    out.fill_(fill.empty() ? 0 : fill[0]);
  }
  inside(out, s[1], s[0], h, w).copy_(kept);
  return out;
}

Tensor crop(const Tensor& image, const Piece& piece) {
  const int64_t h = image.size(-2), w = image.size(-1);
  const auto [top, left, height, width] = piece;
  if (top >= 0 && left >= 0 && top + height <= h && left + width <= w)
    return inside(image, top, left, height, width);
  Tensor out = zeros(with_size(image, height, width), image.options());
  const int64_t first = std::max<int64_t>(top, 0), before = std::max<int64_t>(left, 0);
  const int64_t rows = std::min(top + height, h) - first,
                columns = std::min(left + width, w) - before;
  if (rows > 0 && columns > 0)
    inside(out, first - top, before - left, rows, columns)
        .copy_(inside(image, first, before, rows, columns));
  return out;
}

Piece center_piece(ImageSize image, ImageSize size) {
  return {middle(image.height, size.height), middle(image.width, size.width), size.height,
          size.width};
}

std::vector<Piece> five_pieces(ImageSize image, ImageSize size) {
  const auto [h, w] = size;
  const int64_t down = image.height - h, right = image.width - w;
  TAEDA_CHECK_VALUE(down >= 0 && right >= 0, "Requested crop size (", h, ", ", w,
                    ") is bigger than input size (", image.height, ", ", image.width, ")");
  return {{0, 0, h, w},
          {0, right, h, w},
          {down, 0, h, w},
          {down, right, h, w},
          center_piece(image, size)};
}

Tensor hflip(const Tensor& image) { return image.flip({-1}); }
Tensor vflip(const Tensor& image) { return image.flip({-2}); }

Tensor erase(const Tensor& image, const Piece& piece, const Tensor& v) {
  Tensor out = image.clone();
  inside(out, piece.top, piece.left, piece.height, piece.width).copy_(v);
  return out;
}

}  // namespace taeda::inline v0_2::vision::transforms::functional
