#include "taeda/nn/functional/vision.h"

#include "taeda/base/checked_int.h"
#include "taeda/base/warning.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/grid_sample.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

/// The tensor with its last `tail.size()` dimensions in another order, counted from the first of
/// them.
Tensor permute_tail(const Tensor& x, std::initializer_list<int64_t> tail) {
  const int64_t first = x.dim() - static_cast<int64_t>(tail.size());
  DimVector order;
  for (int64_t d = 0; d < first; ++d) order.push_back(d);
  for (const int64_t d : tail) order.push_back(first + d);
  return x.permute(order);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  const int64_t r = upscale_factor;
  TAEDA_CHECK(input.dim() >= 3,
              "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
              input.dim(), " dimension(s)");
  TAEDA_CHECK(r > 0, "pixel_shuffle expects a positive upscale_factor, but got ", r);
  const int64_t channels = input.size(-3), square = (CheckedInt(r) * r).value("pixel_shuffle");
  TAEDA_CHECK(channels % square == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
              "of upscale_factor, but input.size(-3)=",
              channels, " is not divisible by ", square);
  const Tensor out = permute_tail(input.unflatten(-3, {channels / square, r, r}), {0, 3, 1, 4, 2})
                         .flatten(-2, -1)
                         .flatten(-3, -2);
  return taeda::detail::apart_from(out, input);
}

Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor) {
  const int64_t r = downscale_factor;
  TAEDA_CHECK(input.dim() >= 3,
              "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
              input.dim(), " dimension(s)");
  TAEDA_CHECK(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", r);
  const int64_t height = input.size(-2), width = input.size(-1);
  TAEDA_CHECK(height % r == 0,
              "pixel_unshuffle expects height to be divisible by downscale_factor, but "
              "input.size(-2)=",
              height, " is not divisible by ", r);
  TAEDA_CHECK(width % r == 0,
              "pixel_unshuffle expects width to be divisible by downscale_factor, but "
              "input.size(-1)=",
              width, " is not divisible by ", r);
  const Tensor out =
      permute_tail(input.unflatten(-1, {width / r, r}).unflatten(-3, {height / r, r}),
                   {0, 2, 4, 1, 3})
          .flatten(-5, -3);
  return taeda::detail::apart_from(out, input);
}

namespace {

/// Windows along one dimension: their number, and which row each of their places sees.
struct Windows {
  int64_t count, kernel;
  Tensor rows;  // [kernel * count]
};

/// Checks what unfold and fold share; h and w are the numbers given for the two dimensions.
void check_windows(const ExpandingArray<2>& kernel, const ExpandingArray<2>& dilation,
                   const ExpandingArray<2>& padding, const ExpandingArray<2>& stride) {
  TAEDA_CHECK(kernel[0] > 0 && kernel[1] > 0,
              "kernel size should be greater than zero, but got kernel_height: ", kernel[0],
              " kernel_width: ", kernel[1]);
  TAEDA_CHECK(stride[0] > 0 && stride[1] > 0,
              "stride should be greater than zero, but got stride_height: ", stride[0],
              " stride_width: ", stride[1]);
  TAEDA_CHECK(dilation[0] > 0 && dilation[1] > 0,
              "dilation should be greater than zero, but got dilation_height: ", dilation[0],
              " dilation_width: ", dilation[1]);
  TAEDA_CHECK(padding[0] >= 0 && padding[1] >= 0,
              "padding should be non-negative, but got pad_height: ", padding[0],
              " pad_width: ", padding[1]);
}

template <class Options>
int64_t window_count(int64_t size, const Options& o, size_t d) {
  const CheckedInt reach = CheckedInt(o.dilation()[d]) * (CheckedInt(o.kernel_size()[d]) - 1);
  const int64_t span =
      (CheckedInt(size) + CheckedInt(o.padding()[d]) * 2 - reach - 1).value("fold");
  return span < 0 ? -((-span - 1) / o.stride()[d] + 1) + 1 : span / o.stride()[d] + 1;
}

template <class Options>
Windows windows(int64_t count, const Options& o, size_t d, Device device) {
  const int64_t kernel = o.kernel_size()[d];
  const CheckedInt cells = CheckedInt(kernel) * count;
  const Tensor rows = make_tensor({cells.value("fold")}, kLong, Device(kCPU));
  int64_t* p = rows.data_ptr<int64_t>();
  for (int64_t k = 0; k < kernel; ++k)
    for (int64_t i = 0; i < count; ++i) *p++ = k * o.dilation()[d] + i * o.stride()[d];
  return {count, kernel, rows.to(device)};
}

template <class Options>
std::string window_text(const Options& o) {
  return "kernel_size=" + tuple_text(o.kernel_size()) + ", dilation=" + tuple_text(o.dilation()) +
         ", padding=" + tuple_text(o.padding());
}

}  // namespace

Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  TAEDA_CHECK(input.dim() == 3 || input.dim() == 4,
              "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
              "dimensions for input, but got: ",
              input.sizes());
  check_windows(o.kernel_size(), o.dilation(), o.padding(), o.stride());
  const int64_t size[] = {input.size(-2), input.size(-1)},
                count[] = {window_count(size[0], o, 0), window_count(size[1], o, 1)};
  TAEDA_CHECK(count[0] > 0 && count[1] > 0, "Given input with spatial size ", tuple_text(size),
              ", ", window_text(o), ", calculated shape of the array of sliding blocks as ",
              tuple_text(count), ", but its components must be at least one.");
  const Windows h = windows(count[0], o, 0, input.device()),
                w = windows(count[1], o, 1, input.device());
  const int64_t border[] = {o.padding()[1], o.padding()[1], o.padding()[0], o.padding()[0]};
  const Tensor places = pad(input, border)
                            .index_select(-2, h.rows)
                            .index_select(-1, w.rows)
                            .unflatten(-1, {w.kernel, w.count})
                            .unflatten(-3, {h.kernel, h.count});  // C, kh, Lh, kw, Lw
  return permute_tail(places, {0, 1, 3, 2, 4}).flatten(-2, -1).flatten(-4, -2);
}

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  TAEDA_CHECK(input.dim() == 2 || input.dim() == 3,
              "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
              "non-zero dimensions for input, but got: ",
              input.sizes());
  check_windows(o.kernel_size(), o.dilation(), o.padding(), o.stride());
  const int64_t kernel = o.kernel_size()[0] * o.kernel_size()[1], rows = input.size(-2),
                columns = input.size(-1);
  TAEDA_CHECK(rows % kernel == 0,
              "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
              "but got input.size(1)=",
              rows, " and kernel_size=", tuple_text(o.kernel_size()), ".");
  const int64_t count[] = {window_count(o.output_size()[0], o, 0),
                           window_count(o.output_size()[1], o, 1)};
  TAEDA_CHECK(count[0] > 0 && count[1] > 0 && count[0] * count[1] == columns,
              "Given output_size=", tuple_text(o.output_size()), ", ", window_text(o),
              ", stride=", tuple_text(o.stride()),
              ", expected size of input's dimension 2 to match the calculated number of sliding "
              "blocks ",
              count[0], " * ", count[1], " = ", count[0] * count[1],
              ", but got input.size(2)=", columns, ".");
  const Windows h = windows(count[0], o, 0, input.device()),
                w = windows(count[1], o, 1, input.device());
  Tensor x = input.unflatten(-1, {h.count, w.count})
                 .unflatten(-3, {rows / kernel, h.kernel, w.kernel});  // C, kh, kw, Lh, Lw
  x = permute_tail(x, {0, 1, 3, 2, 4}).flatten(-2, -1).flatten(-3, -2);
  const auto sum_to = [&](int64_t dim, size_t d, const Tensor& index) {
    DimVector sizes = x.sizes();
    sizes[static_cast<size_t>(x.dim() + dim)] = o.output_size()[d] + 2 * o.padding()[d];
    x = zeros(sizes, x.options()).index_add(x.dim() + dim, index, x);
    x = x.narrow(dim, o.padding()[d], o.output_size()[d]);
  };
  sum_to(-2, 0, h.rows);
  sum_to(-1, 1, w.rows);
  return x;
}

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) {
  TAEDA_CHECK_NOT_IMPLEMENTED(size.size() == 4 || size.size() == 5,
                              "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                              "transforms, respectively. Got size ",
                              tuple_text(size), ".");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  TAEDA_CHECK_VALUE(theta.dim() == 3 && theta.size(1) == dims && theta.size(2) == dims + 1,
                    "Expected a batch of ", dims, "D affine matrices of shape Nx", dims, "x",
                    dims + 1, " for size ", tuple_text(size), ". Got ", theta.sizes(), ".");
  for (const int64_t s : size)
    TAEDA_CHECK_VALUE(s > 0, "Expected non-zero, positive output size. Got ", tuple_text(size));
  const IntArrayRef spatial = size.slice(2, static_cast<size_t>(dims));
  std::vector<Tensor> coordinates;
  for (int64_t d = dims - 1; d >= 0; --d) {
    const int64_t n = spatial[static_cast<size_t>(d)];
    Tensor line = n > 1 ? linspace(-1, 1, n, theta.options()) : zeros({1}, theta.options());
    if (!align_corners) line = line.mul(static_cast<double>(n - 1) / static_cast<double>(n));
    DimVector sizes(static_cast<size_t>(dims), 1);
    sizes[static_cast<size_t>(d)] = n;
    coordinates.push_back(line.view(sizes).expand(spatial));
  }
  coordinates.push_back(ones(spatial, theta.options()));
  const Tensor base = stack(coordinates, -1).flatten(0, -2);  // [pixels, dims + 1]
  return base.matmul(theta.transpose(1, 2)).unflatten(1, spatial);
}

namespace {

void check_grid(const Tensor& input, const Tensor& grid) {
  TAEDA_CHECK(
      (input.dim() == 4 || input.dim() == 5) && input.dim() == grid.dim(),
      "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
      "got input with sizes ",
      input.sizes(), " and grid with sizes ", grid.sizes());
  TAEDA_CHECK(input.size(0) == grid.size(0),
              "grid_sampler(): expected grid and input to have same batch size, but got input with "
              "sizes ",
              input.sizes(), " and grid with sizes ", grid.sizes());
  TAEDA_CHECK(grid.size(-1) == input.dim() - 2, "grid_sampler(): expected grid to have size ",
              input.dim() - 2, " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d)
    TAEDA_CHECK(input.size(d) > 0,
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                "has sizes ",
                input.sizes(), " with dimension ", d, " being empty");
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& o) {
  check_grid(input, grid);
  if (!o.align_corners())
    TAEDA_WARN(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.");
  TAEDA_CHECK(o.mode() == kBilinear || o.mode() == kNearest || o.mode() == kBicubic,
              "grid_sample(): expected mode to be kBilinear, kNearest or kBicubic");
  TAEDA_CHECK(o.padding_mode() != kCircular,
              "grid_sample(): expected padding_mode to be kZeros, kBorder or kReflection");
  TAEDA_CHECK(o.mode() != kBicubic || input.dim() == 4,
              "grid_sampler(): bicubic interpolation only supports 4D input");
  GridSampling sampling;
  sampling.mode = o.mode() == kBilinear  ? GridMode::Bilinear
                  : o.mode() == kNearest ? GridMode::Nearest
                                         : GridMode::Bicubic;
  sampling.padding = o.padding_mode() == kZeros    ? GridPadding::Zeros
                     : o.padding_mode() == kBorder ? GridPadding::Border
                                                   : GridPadding::Reflection;
  sampling.align_corners = o.align_corners().value_or(false);
  return taeda::detail::grid_sample(input, grid, sampling);
}

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o) {
  return pixel_shuffle(input, o.upscale_factor());
}

Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& o) {
  return pixel_unshuffle(input, o.downscale_factor());
}

}  // namespace taeda::inline v0_2::nn::functional
