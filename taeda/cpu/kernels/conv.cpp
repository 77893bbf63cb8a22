// The convolution slots: which kernel serves which shape, and the general kernels, which unfold the
// input into a matrix.
#include "taeda/kernels/conv.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/host_copy.h"
#include "taeda/cpu/kernels/conv_direct.h"
#include "taeda/cpu/kernels/conv_rows.h"
#include "taeda/cpu/kernels/conv_shape.h"
#include "taeda/cpu/kernels/conv_winograd.h"
#include "taeda/cpu/kernels/convert.h"
#include "taeda/cpu/kernels/dense.h"
#include "taeda/cpu/kernels/gemm.h"
#include "taeda/cpu/onednn.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Calls f(row of the unfolded matrix, base of its channel, offsets and ranges) for each channel
/// and tap of a group: the positions o in [begin[d], end[d]) read inside the input.
template <class F>
void for_each_tap_row(const Shape& s, F&& f) {
  parallel_for(0, s.rows(), std::max<int64_t>(1, kParallelGrain / s.out_size()),
               [&](int64_t first, int64_t last) {
                 for (int64_t row = first; row < last; ++row) {
                   int64_t rest = row % s.tap_count(), shift[3], begin[3], end[3];
                   for (int d = 2; d >= 0; --d) {
                     shift[d] = rest % s.taps[d] * s.dilation[d] - s.padding[d];
                     rest /= s.taps[d];
                     begin[d] = shift[d] >= 0 ? 0 : (-shift[d] + s.stride[d] - 1) / s.stride[d];
                     const int64_t room = s.in[d] - shift[d];
                     end[d] =
                         room <= 0 ? 0 : std::min(s.out[d], (room + s.stride[d] - 1) / s.stride[d]);
                     begin[d] = std::min(begin[d], end[d]);
                   }
                   f(row, row / s.tap_count(), shift, begin, end);
                 }
               });
}

/// The matrix [channels * taps, output positions] of one image and group.
template <class T>
void unfold(const Shape& s, const T* in, T* out) {
  for_each_tap_row(s, [&](int64_t row, int64_t c, const int64_t* shift, const int64_t* begin,
                          const int64_t* end) {
    const T* channel = in + c * s.in_size();
    T* to = out + row * s.out_size();
    for (int64_t z = 0; z < s.out[0]; ++z)
      for (int64_t y = 0; y < s.out[1]; ++y, to += s.out[2]) {
        const bool inside = z >= begin[0] && z < end[0] && y >= begin[1] && y < end[1];
        if (!inside) {
          std::fill_n(to, s.out[2], T(0));
          continue;
        }
        const T* from =
            channel +
            ((z * s.stride[0] + shift[0]) * s.in[1] + y * s.stride[1] + shift[1]) * s.in[2] +
            shift[2];
        std::fill_n(to, begin[2], T(0));
        if (s.stride[2] == 1)
          std::copy_n(from + begin[2], end[2] - begin[2], to + begin[2]);
        else
          for (int64_t x = begin[2]; x < end[2]; ++x) to[x] = from[x * s.stride[2]];
        std::fill_n(to + end[2], s.out[2] - end[2], T(0));
      }
  });
}

/// The opposite: every entry is added to the input element it was taken from. Channels in parallel.
template <class T>
void fold(const Shape& s, const T* columns, T* in) {
  parallel_for(
      0, s.group_in(), std::max<int64_t>(1, kParallelGrain / (s.tap_count() * s.out_size())),
      [&](int64_t first, int64_t last) {
        for (int64_t c = first; c < last; ++c) {
          T* channel = in + c * s.in_size();
          const T* base = columns + c * s.tap_count() * s.out_size();
          for (int64_t tap = 0; tap < s.tap_count(); ++tap) {
            const int64_t at[3] = {tap / (s.taps[1] * s.taps[2]), tap / s.taps[2] % s.taps[1],
                                   tap % s.taps[2]};
            const T* from = base + tap * s.out_size();
            for (int64_t z = 0; z < s.out[0]; ++z)
              for (int64_t y = 0; y < s.out[1]; ++y, from += s.out[2]) {
                const int64_t iz = z * s.stride[0] + at[0] * s.dilation[0] - s.padding[0];
                const int64_t iy = y * s.stride[1] + at[1] * s.dilation[1] - s.padding[1];
                if (iz < 0 || iz >= s.in[0] || iy < 0 || iy >= s.in[1]) continue;
                T* to = channel + (iz * s.in[1] + iy) * s.in[2];
                for (int64_t x = 0; x < s.out[2]; ++x) {
                  const int64_t ix = x * s.stride[2] + at[2] * s.dilation[2] - s.padding[2];
                  if (ix >= 0 && ix < s.in[2]) to[ix] += from[x];
                }
              }
          }
        }
      });
}

/// Images and groups in parallel if there are several, else the rows of the product.
template <class F>
void for_each_group(const Shape& s, F&& f) {
  const int64_t count = s.images * s.groups;
  const int64_t work = s.rows() * s.group_out() * s.out_size();
  parallel_for(0, count, std::max<int64_t>(1, 4 * kParallelGrain / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) f(i / s.groups, i % s.groups);
               });
}

template <class T>
void conv_general(const Shape& s, const T* in, const T* weight, const T* bias, T* out) {
  const int64_t rows = s.rows(), size = s.out_size(), o = s.group_out();
  for_each_group(s, [&](int64_t n, int64_t g) {
    const T* image = in + (n * s.in_channels + g * s.group_in()) * s.in_size();
    ScratchArray<T> columns(s.is_pointwise() ? 0 : rows * size);
    if (!s.is_pointwise()) unfold(s, image, columns.get());
    Gemm<T> product{o,
                    size,
                    rows,
                    {weight + g * o * rows, rows, 1},
                    {s.is_pointwise() ? image : columns.get(), size, 1},
                    {out + (n * s.out_channels + g * o) * size, size, 1},
                    {}};
    if (bias) product.addend = {bias + g * o, 1, 0};
    gemm(product);
  });
}

template <class T>
void input_grad_general(const Shape& s, T* grad_in, const T* grad_out, const T* weight,
                        const T* bias) {
  const int64_t rows = s.rows(), size = s.out_size(), o = s.group_out();
  for_each_group(s, [&](int64_t n, int64_t g) {
    T* image = grad_in + (n * s.in_channels + g * s.group_in()) * s.in_size();
    const T* channel_bias = bias ? bias + g * s.group_in() : nullptr;
    ScratchArray<T> columns(s.is_pointwise() ? 0 : rows * size);
    Gemm<T> product{rows,
                    size,
                    o,
                    {weight + g * o * rows, 1, rows},
                    {grad_out + (n * s.out_channels + g * o) * size, size, 1},
                    {s.is_pointwise() ? image : columns.get(), size, 1},
                    {}};
    if (s.is_pointwise()) {
      if (bias) product.addend = {channel_bias, 1, 0};
      return gemm(product);
    }
    gemm(product);
    for (int64_t c = 0; c < s.group_in(); ++c)
      std::fill_n(image + c * s.in_size(), s.in_size(), bias ? channel_bias[c] : T(0));
    fold(s, columns.get(), image);
  });
}

template <class T>
void weight_grad_general(const Shape& s, T* grad_weight, T* grad_bias, const T* in,
                         const T* grad_out) {
  const int64_t rows = s.rows(), size = s.out_size(), o = s.group_out();
  parallel_for(0, s.groups, 1, [&](int64_t begin, int64_t end) {
    ScratchArray<T> columns(s.is_pointwise() ? 0 : rows * size);
    for (int64_t g = begin; g < end; ++g)
      for (int64_t n = 0; n < s.images; ++n) {
        const T* image = in + (n * s.in_channels + g * s.group_in()) * s.in_size();
        if (!s.is_pointwise()) unfold(s, image, columns.get());
        Gemm<T> product{o,
                        rows,
                        size,
                        {grad_out + (n * s.out_channels + g * o) * size, size, 1},
                        {s.is_pointwise() ? image : columns.get(), 1, size},
                        {grad_weight + g * o * rows, rows, 1},
                        {}};
        if (n > 0) product.addend = {product.out.data, rows, 1};
        gemm(product);
      }
  });
  if (!grad_bias) return;
  parallel_for(0, s.out_channels, std::max<int64_t>(1, kParallelGrain / (s.images * size)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c) {
                   double sum = 0;
                   for (int64_t n = 0; n < s.images; ++n)
                     for (int64_t i = 0; i < size; ++i)
                       sum += grad_out[(n * s.out_channels + c) * size + i];
                   grad_bias[c] = static_cast<T>(sum);
                 }
               });
}

// ---- Taps that only meet padding

/// The taps of one dimension from the first to the last one that meets the input somewhere.
struct UsedTaps {
  int64_t first = 0, count = 0;

  UsedTaps(const Shape& s, int d) {
    for (int64_t k = 0; k < s.taps[d]; ++k) {
      const int64_t shift = k * s.dilation[d] - s.padding[d];
      const int64_t at = shift >= 0 ? 0 : (-shift + s.stride[d] - 1) / s.stride[d];
      if (at >= s.out[d] || at * s.stride[d] + shift >= s.in[d]) continue;
      if (count == 0) first = k;
      count = k - first + 1;
    }
  }
};

/// A convolution without taps that only meet padding: of a 3 x 3 filter over one pixel, or the
/// deepest layers of a network for small images, that is one of nine.
struct Cropped {
  Tensor weight;  ///< a part of the memory that was given
  ConvGeometry geometry;
};
std::optional<Cropped> cropped(const Shape& s, const Tensor& weight, const ConvGeometry& geometry) {
  if (s.padding[0] == 0 && s.padding[1] == 0 && s.padding[2] == 0) return {};
  Layout layout{DimVector(weight.sizes()), DimVector(weight.strides()), weight.storage_offset()};
  ConvGeometry less = geometry;
  bool any = false;
  for (int d = 0; d < geometry.ndim; ++d) {
    const UsedTaps used(s, 3 - geometry.ndim + d);
    const auto at = static_cast<size_t>(d + 2);
    const int64_t padding = geometry.padding[d] - used.first * geometry.dilation[d];
    if (used.count == layout.sizes[at]) continue;
    if (used.count == 0 || padding < 0) return {};
    layout.offset += used.first * layout.strides[at];
    layout.sizes[at] = used.count;
    less.padding[d] = padding;
    any = true;
  }
  if (!any) return {};
  return Cropped{
      Tensor(make_intrusive<TensorImpl>(weight.storage(), std::move(layout), weight.dtype())),
      less};
}

// ---- The choice

// Where the direct kernels are ahead of oneDNN, which works on blocks of eight or sixteen channels:
// by 1.2 to 5 times inside these limits, behind by up to two outside of them. Measured with 3x3 and
// 5x5 filters on 12x12 to 64x64 images, 1 to 64 channels on either side, AVX2, 1 and 2 threads.
bool is_narrow_forward(const Shape& s) { return s.in_channels <= 8 && s.out_channels <= 8; }
bool is_narrow_input_grad(const Shape& s) { return s.in_channels <= 4; }
/// Three channels have kernels of their own in oneDNN.
bool is_narrow_weight_grad(const Shape& s) { return s.in_channels <= 4 && s.in_channels != 3; }

/// Where they are ahead of the general kernels below, by 1.2 to 4 times in the same measurement.
bool is_narrow(int64_t in_channels, int64_t out_channels) {
  return std::min(in_channels, out_channels) <= 16 && in_channels * out_channels <= 512;
}

/// Whether the direct kernels serve these operands.
bool is_direct(const Shape& s, bool ahead_of_onednn, const Tensor& a, const Tensor& b,
               const Tensor& c) {
  if (!(onednn_enabled() ? ahead_of_onednn : is_narrow(s.in_channels, s.out_channels)))
    return false;
  if (a.dtype() != kFloat || !a.is_contiguous() || !b.is_contiguous() || !c.is_contiguous())
    return false;
  if (s.groups != 1 || s.in[0] != 1 || s.taps[0] != 1 || s.out[0] != 1 || s.tap_count() == 1)
    return false;
  if (s.stride[1] != 1 || s.stride[2] != 1) return false;
  for (int d = 1; d < 3; ++d)
    if (s.padding[d] > (s.taps[d] - 1) * s.dilation[d]) return false;
  return true;
}

/// Whether the operands are those of `conv_rows` and its like. `adds`: products are added up, which
/// bfloat16 would be rounded between.
bool can_be_rows(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& bias, bool adds) {
  if (bias.defined() && bias.stride(0) != 1) return false;
  if (a.dtype() != kFloat && (adds || a.dtype() != kBFloat16 || !onednn::multiplies(kBFloat16)))
    return false;
  for (const Tensor* t : {&a, &b, &c})
    if (t->layout().has_internal_overlap()) return false;
  return true;
}

/// Whether the operands are those of `winograd_conv` and its like.
bool is_float_winograd(const Shape& s, const Tensor& a, const Tensor& b, const Tensor& c) {
  if (!prefers_winograd(s)) return false;
  for (const Tensor* t : {&a, &b, &c})
    if (t->dtype() != kFloat || t->layout().has_internal_overlap()) return false;
  return true;
}

DirectShape direct_shape(const Shape& s) {
  return {s.images,      s.in_channels, s.out_channels, s.in[1],   s.in[2],
          s.out[1],      s.out[2],      s.taps[1],      s.taps[2], s.dilation[1],
          s.dilation[2], s.padding[1],  s.padding[2]};
}

// Note [Narrow convolutions of 16 bits]
// oneDNN multiplies bfloat16 in blocks of 32 channels. Of images with few channels most of a block
// is padding, and reordering them costs more than the instructions gain: a step of LeNet took four
// times as long as in float32. So these run in float32, and their results are rounded; sums had its
// precision before. Without instructions for products of 16-bit numbers all convolutions do, and
// then autocast leaves weights as they are: they would be rounded only to be widened again, in
// forward and in backward.
bool computes_in_float32(ScalarType dtype, int64_t in_channels, int64_t out_channels) {
  return !onednn::multiplies(dtype) || is_narrow(in_channels, out_channels);
}

bool runs_in_float32(const Shape& s, std::initializer_list<const Tensor*> operands) {
  bool all_dense = true, any_float = false;
  ScalarType dtype = kFloat;
  for (const Tensor* t : operands) {
    if (!t->defined()) continue;
    if (is_reduced_floating(t->dtype())) dtype = t->dtype();
    any_float |= t->dtype() == kFloat;
    all_dense &= t->layout().is_non_overlapping_and_dense();
  }
  if (dtype == kFloat) return false;
  if (any_float) return true;
  // Without oneDNN the general kernels convert their operands themselves.
  return onednn_enabled() && all_dense && computes_in_float32(dtype, s.in_channels, s.out_channels);
}

/// A tensor's sizes in float32, in its memory order if it is dense; `t` itself if it is float32 or
/// undefined.
Tensor float32_like(const Tensor& t) {
  if (!t.defined() || t.dtype() == kFloat) return t;
  if (!t.layout().is_non_overlapping_and_dense()) return make_tensor(t.sizes(), kFloat, kCPU);
  return make_tensor(Layout{DimVector(t.sizes()), DimVector(t.strides()), 0}, kFloat, kCPU);
}

/// to = from.
void copy_values(const Tensor& to, const Tensor& from) {
  convert_on_host("convolution", to.data_ptr(), {to.sizes(), to.strides(), 0}, to.dtype(),
                  from.data_ptr(), {from.sizes(), from.strides(), 0}, from.dtype());
}

/// to = from, unless they are the same tensor.
void convert(const Tensor& to, const Tensor& from) {
  if (!to.defined() || to.dtype() == from.dtype()) return;
  if (to.strides() != from.strides()) return copy_values(to, from);
  const Conversion conversion(to.dtype(), from.dtype());
  char* const out = static_cast<char*>(to.data_ptr());
  const char* const in = static_cast<const char*>(from.data_ptr());
  const int64_t a = to.element_size(), b = from.element_size();
  parallel_for(0, to.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
    conversion.run(out + begin * a, a, in + begin * b, b, end - begin);
  });
}

/// Zeros in a dense tensor.
void fill_zeros(const Tensor& t) {
  parallel_for(
      0, t.numel() * t.element_size(), 4 * kParallelGrain, [&](int64_t begin, int64_t end) {
        std::memset(static_cast<char*>(t.data_ptr()) + begin, 0, static_cast<size_t>(end - begin));
      });
}

Tensor in_float32(const Tensor& t) {
  if (!t.defined() || t.dtype() == kFloat) return t;
  Tensor wide = float32_like(t);
  convert(wide, t);
  return wide;
}

void conv_kernel(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
                 const ConvGeometry& geometry) {
  const Shape s(in, out, weight, geometry);
  if (const auto less = cropped(s, weight, geometry))
    return conv_kernel(out, in, less->weight, bias, less->geometry);
  if (runs_in_float32(s, {&out, &in, &weight, &bias})) {
    const Tensor wide = float32_like(out);
    conv_kernel(wide, in_float32(in), in_float32(weight), in_float32(bias), geometry);
    return convert(out, wide);
  }
  if (is_direct(s, is_narrow_forward(s), in, out, weight) &&
      (!bias.defined() || bias.is_contiguous())) {
    const int64_t area = s.tap_count();
    return direct_conv(direct_shape(s), in.data_ptr<float>(),
                       {weight.data_ptr<float>(), s.in_channels * area, area, s.taps[2], 1},
                       bias.defined() ? bias.data_ptr<float>() : nullptr, out.data_ptr<float>());
  }
  if (prefers_rows(s) && can_be_rows(out, in, weight, bias, false))
    return conv_rows(s, out, in, weight, bias);
  if (is_float_winograd(s, out, in, weight) && winograd_conv(s, out, in, weight, bias)) return;
  if (onednn::conv(out, in, weight, bias, geometry)) return;
  dispatch(FloatTypes{}, "convolution", in.dtype(), [&]<class T>() {
    const DenseInput<T> x(in), w(weight), b(bias);
    const DenseOutput<T> y(out);
    conv_general(s, x.get(), w.get(), b.get(), y.get());
  });
}

/// The gradient by the input is a convolution of the gradient with the weights turned around.
void direct_input_grad(const Shape& s, const Tensor& grad_in, const Tensor& grad_out,
                       const Tensor& weight, const float* bias) {
  DirectShape turned = direct_shape(s);
  std::swap(turned.in_channels, turned.out_channels);
  std::swap(turned.in_height, turned.out_height);
  std::swap(turned.in_width, turned.out_width);
  turned.pad_top = (s.taps[1] - 1) * s.dilation[1] - s.padding[1];
  turned.pad_left = (s.taps[2] - 1) * s.dilation[2] - s.padding[2];
  const int64_t area = s.tap_count();
  direct_conv(turned, grad_out.data_ptr<float>(),
              {weight.data_ptr<float>() + area - 1, area, s.in_channels * area, -s.taps[2], -1},
              bias, grad_in.data_ptr<float>());
}

void input_grad_kernel(const Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                       const Tensor& bias, const ConvGeometry& geometry) {
  const Shape s(grad_in, grad_out, weight, geometry);
  if (const auto less = cropped(s, weight, geometry))
    return input_grad_kernel(grad_in, grad_out, less->weight, bias, less->geometry);
  if (runs_in_float32(s, {&grad_in, &grad_out, &weight, &bias})) {
    const Tensor wide = float32_like(grad_in);
    input_grad_kernel(wide, in_float32(grad_out), in_float32(weight), in_float32(bias), geometry);
    return convert(grad_in, wide);
  }
  if (is_direct(s, is_narrow_input_grad(s), grad_in, grad_out, weight) &&
      (!bias.defined() || bias.is_contiguous()))
    return direct_input_grad(s, grad_in, grad_out, weight,
                             bias.defined() ? bias.data_ptr<float>() : nullptr);
  if (prefers_rows(s) && can_be_rows(grad_in, grad_out, weight, bias, s.tap_count() > 1))
    return input_grad_rows(s, grad_in, grad_out, weight, bias);
  if (is_float_winograd(s, grad_in, grad_out, weight) &&
      winograd_input_grad(s, grad_in, grad_out, weight, bias))
    return;
  if (onednn::conv_input_grad(grad_in, grad_out, weight, bias, geometry)) return;
  dispatch(FloatTypes{}, "convolution_input_grad", grad_in.dtype(), [&]<class T>() {
    const DenseInput<T> g(grad_out), w(weight), b(bias);
    const DenseOutput<T> x(grad_in);
    input_grad_general(s, x.get(), g.get(), w.get(), b.get());
  });
}

void weight_grad_kernel(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& in,
                        const Tensor& grad_out, const ConvGeometry& geometry) {
  const Shape s(in, grad_out, grad_weight, geometry);
  const bool dense_weight = grad_weight.layout().is_non_overlapping_and_dense();
  if (const auto less = dense_weight ? cropped(s, grad_weight, geometry) : std::nullopt) {
    fill_zeros(grad_weight);
    const Tensor dense = make_tensor(less->weight.sizes(), grad_weight.dtype(), kCPU);
    weight_grad_kernel(dense, grad_bias, in, grad_out, less->geometry);
    return copy_values(less->weight, dense);
  }
  if (runs_in_float32(s, {&grad_weight, &grad_bias, &in, &grad_out})) {
    const Tensor weight = float32_like(grad_weight), bias = float32_like(grad_bias);
    weight_grad_kernel(weight, bias, in_float32(in), in_float32(grad_out), geometry);
    convert(grad_weight, weight);
    return convert(grad_bias, bias);
  }
  if (is_direct(s, is_narrow_weight_grad(s), in, grad_out, grad_weight))
    return direct_weight_grad(direct_shape(s), in.data_ptr<float>(), grad_out.data_ptr<float>(),
                              grad_weight.data_ptr<float>(),
                              grad_bias.defined() ? grad_bias.data_ptr<float>() : nullptr);
  if (prefers_rows_for_weights(s) &&
      can_be_rows(grad_weight, in, grad_out, grad_bias, is_in_parts(s)))
    return weight_grad_rows(s, grad_weight, grad_bias, in, grad_out);
  if (is_float_winograd(s, grad_weight, in, grad_out) &&
      winograd_weight_grad(s, grad_weight, grad_bias, in, grad_out))
    return;
  if (onednn::conv_weight_grad(grad_weight, grad_bias, in, grad_out, geometry)) return;
  dispatch(FloatTypes{}, "convolution_weight_grad", in.dtype(), [&]<class T>() {
    const DenseInput<T> x(in), g(grad_out);
    const DenseOutput<T> w(grad_weight), b(grad_bias);
    weight_grad_general(s, w.get(), b.get(), x.get(), g.get());
  });
}

}  // namespace

void register_conv() {
  fill_slots<On<conv_slot, conv_kernel>, On<conv_input_grad_slot, input_grad_kernel>,
             On<conv_weight_grad_slot, weight_grad_kernel>>(kCPU);
  conv_precision_slot.set(kCPU, [](ScalarType dtype, const Tensor& weight, int64_t groups,
                                   ProductPrecision* precision) {
    precision->float32 = computes_in_float32(dtype, weight.size(1) * groups, weight.size(0));
  });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
