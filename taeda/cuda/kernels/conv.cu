// Convolutions: cuDNN's where it is found and takes the operands, else matrix products whose
// operands are read where they lie: nothing is unfolded. Their k runs over a group's channels and
// taps, or for the gradient of the weights over images and positions.
#include "taeda/cuda/conv_bias.h"
#include "taeda/cuda/conv_narrow.h"
#include "taeda/cuda/cudnn_conv.h"
#include "taeda/cuda/cudnn_library.h"
#include "taeda/cuda/kernels/gemm.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/conv.h"
#include "taeda/kernels/copy.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/kernels/reduce.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// A tensor [N, C, z, y, x]; missing spatial dimensions are 1, at the front. Strides are in bytes.
struct Volume {
  char* data = nullptr;
  ScalarType dtype{};
  Divider size[3];
  int64_t image = 0, channel = 0, step[3] = {0, 0, 0};

  Volume() = default;
  Volume(const Tensor& t, int ndim)
      : data(static_cast<char*>(t.data_ptr())),
        dtype(t.dtype()),
        image(t.stride(0) * t.element_size()),
        channel(t.stride(1) * t.element_size()) {
    for (int d = 0; d < ndim; ++d) {
      size[3 - ndim + d] = Divider(t.size(d + 2));
      step[3 - ndim + d] = t.stride(d + 2) * t.element_size();
    }
  }
  __host__ __device__ int64_t positions() const {
    return size[0].divisor * size[1].divisor * size[2].divisor;
  }
  /// Splits a number of a position, or of (something, position).
  __device__ int64_t locate(int64_t i, int64_t (&at)[3]) const {
    for (int d = 2; d >= 0; --d) size[d].divide(i, i, at[d]);
    return i;
  }
  __device__ int64_t offset(const int64_t (&at)[3]) const {
    return at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
  }
};

/// The three tensors of a convolution: in [N, C], out [N, O], weight [O, C / groups].
struct Operands {
  Volume in, out, weight;
  const char* bias = nullptr;
  ScalarType bias_dtype{};
  int64_t bias_step = 0;
  int64_t images, groups, group_in, group_out;
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  Operands(const Tensor& x, const Tensor& y, const Tensor& w, const Tensor& b,
           const ConvGeometry& g)
      : in(x, g.ndim),
        out(y, g.ndim),
        weight(w, g.ndim),
        images(x.size(0)),
        groups(g.groups),
        group_in(x.size(1) / g.groups),
        group_out(y.size(1) / g.groups) {
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      stride[at] = g.stride[d], padding[at] = g.padding[d], dilation[at] = g.dilation[d];
    }
    if (!b.defined()) return;
    bias = static_cast<const char*>(b.data_ptr());
    bias_dtype = b.dtype();
    bias_step = b.stride(0) * b.element_size();
  }
  template <class A>
  __device__ A bias_of(int64_t channel) const {
    return bias ? load_as<A>(bias + channel * bias_step, bias_dtype) : A(0);
  }
};

/// A position of an image, and where its group's channels begin.
struct Place {
  const char* base;
  int64_t at[3];
};

/// out[o, (image, position)] = sum over (c, tap) of weight[o, c, tap] in[c, where the tap reads].
template <class A>
struct Forward {
  using Row = const char*;
  using Column = Place;
  Operands c;

  __device__ Row row(int64_t group, int64_t o) const {
    return c.weight.data + (group * c.group_out + o) * c.weight.image;
  }
  __device__ Column column(int64_t group, int64_t n) const {
    Column p;
    const int64_t image = c.out.locate(n, p.at);
    for (int d = 0; d < 3; ++d) p.at[d] = p.at[d] * c.stride[d] - c.padding[d];
    p.base = c.in.data + image * c.in.image + group * c.group_in * c.in.channel;
    return p;
  }
  __device__ A a(Row r, int64_t k) const {
    int64_t tap[3];
    const int64_t channel = c.weight.locate(k, tap);
    return load_as<A>(r + channel * c.weight.channel + c.weight.offset(tap), c.weight.dtype);
  }
  __device__ A b(const Column& p, int64_t k) const {
    int64_t tap[3];
    const int64_t channel = c.weight.locate(k, tap);
    for (int d = 0; d < 3; ++d) {
      tap[d] = p.at[d] + tap[d] * c.dilation[d];
      if (tap[d] < 0 || tap[d] >= c.in.size[d].divisor) return A(0);
    }
    return load_as<A>(p.base + channel * c.in.channel + c.in.offset(tap), c.in.dtype);
  }
  __device__ void store(int64_t group, int64_t o, int64_t n, A acc) const {
    int64_t at[3];
    const int64_t image = c.out.locate(n, at), channel = group * c.group_out + o;
    store_as<A>(c.out.data + image * c.out.image + channel * c.out.channel + c.out.offset(at),
                c.out.dtype, acc + c.bias_of<A>(channel));
  }
};

/// in[c, (image, position)] = sum over (o, tap) of weight[o, c, tap] out[o, what reads here by the
/// tap].
template <class A>
struct InputGrad {
  using Row = const char*;
  using Column = Place;
  Operands c;

  __device__ Row row(int64_t group, int64_t channel) const {
    return c.weight.data + group * c.group_out * c.weight.image + channel * c.weight.channel;
  }
  __device__ Column column(int64_t group, int64_t n) const {
    Column p;
    const int64_t image = c.in.locate(n, p.at);
    for (int d = 0; d < 3; ++d) p.at[d] += c.padding[d];
    p.base = c.out.data + image * c.out.image + group * c.group_out * c.out.channel;
    return p;
  }
  __device__ A a(Row r, int64_t k) const {
    int64_t tap[3];
    const int64_t o = c.weight.locate(k, tap);
    return load_as<A>(r + o * c.weight.image + c.weight.offset(tap), c.weight.dtype);
  }
  __device__ A b(const Column& p, int64_t k) const {
    int64_t tap[3];
    const int64_t o = c.weight.locate(k, tap);
    for (int d = 0; d < 3; ++d) {
      const int64_t place = p.at[d] - tap[d] * c.dilation[d];
      tap[d] = place / c.stride[d];
      if (place < 0 || tap[d] * c.stride[d] != place || tap[d] >= c.out.size[d].divisor)
        return A(0);
    }
    return load_as<A>(p.base + o * c.out.channel + c.out.offset(tap), c.out.dtype);
  }
  __device__ void store(int64_t group, int64_t channel, int64_t n, A acc) const {
    int64_t at[3];
    const int64_t image = c.in.locate(n, at);
    channel += group * c.group_in;
    store_as<A>(c.in.data + image * c.in.image + channel * c.in.channel + c.in.offset(at),
                c.in.dtype, acc + c.bias_of<A>(channel));
  }
};

/// weight[o, (c, tap)] = sum over (image, position) of out[o] in[c, where the tap reads].
template <class A>
struct WeightGrad {
  using Row = const char*;
  using Column = Place;
  Operands c;

  __device__ Row row(int64_t group, int64_t o) const {
    return c.out.data + (group * c.group_out + o) * c.out.channel;
  }
  __device__ Column column(int64_t group, int64_t n) const {
    Column p;
    const int64_t channel = c.weight.locate(n, p.at);
    for (int d = 0; d < 3; ++d) p.at[d] = p.at[d] * c.dilation[d] - c.padding[d];
    p.base = c.in.data + (group * c.group_in + channel) * c.in.channel;
    return p;
  }
  __device__ A a(Row r, int64_t k) const {
    int64_t at[3];
    const int64_t image = c.out.locate(k, at);
    return load_as<A>(r + image * c.out.image + c.out.offset(at), c.out.dtype);
  }
  __device__ A b(const Column& p, int64_t k) const {
    int64_t at[3];
    const int64_t image = c.out.locate(k, at);
    for (int d = 0; d < 3; ++d) {
      at[d] = at[d] * c.stride[d] + p.at[d];
      if (at[d] < 0 || at[d] >= c.in.size[d].divisor) return A(0);
    }
    return load_as<A>(p.base + image * c.in.image + c.in.offset(at), c.in.dtype);
  }
  __device__ void store(int64_t group, int64_t o, int64_t n, A acc) const {
    int64_t tap[3];
    const int64_t channel = c.weight.locate(n, tap);
    store_as<A>(c.weight.data + (group * c.group_out + o) * c.weight.image +
                    channel * c.weight.channel + c.weight.offset(tap),
                c.weight.dtype, acc);
  }
};

// ---- cuDNN wants all operands in one memory order. What has another is copied: mostly a weight
// that was left contiguous, or a gradient that came so.

Tensor blank(const Tensor& like, MemoryFormat order) {
  return make_tensor(Layout{like.sizes(), strides_in(like.sizes(), order), 0}, like.dtype(),
                     like.device());
}

void copy_into(const Tensor& out, const Tensor& in) {
  Tensor target = out;
  Tensor* outputs[] = {&target};
  copy_slot(kCUDA, Iter("convolution", outputs, out.dtype(), {Operand(in)}, in.dtype()));
}

Tensor in_order(const Tensor& t, MemoryFormat order) {
  if (t.is_contiguous(order)) return t;
  const Tensor out = blank(t, order);
  copy_into(out, t);
  return out;
}

/// Calls run(order, result) for channels-last if an operand is, then for contiguous; `result` is
/// `out` or takes its place. False if neither works.
template <class Run>
bool in_one_order(const Tensor& out, const Tensor& a, const Tensor& b, Run run) {
  if (!cudnn_usable()) return false;
  const auto attempt = [&](MemoryFormat order) {
    const Tensor result = out.is_contiguous(order) ? out : blank(out, order);
    if (!run(order, result)) return false;
    if (!result.is_same(out)) copy_into(out, result);
    return true;
  };
  const bool last =
      is_channels_last_only(out) || is_channels_last_only(a) || is_channels_last_only(b);
  return (last && attempt(channels_last_of(out.dim()))) || attempt(MemoryFormat::Contiguous);
}

void conv_cuda(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
               const ConvGeometry& g) {
  if (out.numel() == 0) return;
  const Context context(in.device());
  if (in_one_order(out, in, weight, [&](MemoryFormat order, const Tensor& result) {
        return cudnn_conv(context, result, in_order(in, order), in_order(weight, order), g);
      }))
    return add_bias(out, bias);
  const Operands c(in, out, weight, bias, g);
  const GemmShape shape(c.groups, c.group_out, c.images * c.out.positions(),
                        c.group_in * c.weight.positions(), true, false);
  dispatch_compute(FloatCompute{}, "convolution", in.dtype(), [&]<class A>() {
    run_gemm<A>("convolution", context, in.device(), shape, Forward<A>{c});
  });
}

void conv_input_grad_cuda(const Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                          const Tensor& bias, const ConvGeometry& g) {
  if (grad_in.numel() == 0) return;
  const Context context(grad_in.device());
  if (in_one_order(grad_in, grad_out, weight, [&](MemoryFormat order, const Tensor& result) {
        return cudnn_conv_input_grad(context, result, in_order(grad_out, order),
                                     in_order(weight, order), g);
      }))
    return add_bias(grad_in, bias);
  const Operands c(grad_in, grad_out, weight, bias, g);
  const GemmShape shape(c.groups, c.group_in, c.images * c.in.positions(),
                        c.group_out * c.weight.positions(), true, false);
  dispatch_compute(FloatCompute{}, "convolution_input_grad", grad_in.dtype(), [&]<class A>() {
    run_gemm<A>("convolution_input_grad", context, grad_in.device(), shape, InputGrad<A>{c});
  });
}

void own_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                     const Tensor& grad_out, const ConvGeometry& g) {
  const Operands c(in, grad_out, grad_weight, Tensor(), g);
  const GemmShape shape(c.groups, c.group_out, c.group_in * c.weight.positions(),
                        grad_out.numel() == 0 ? 0 : c.images * c.out.positions(), true, true);
  dispatch_compute(FloatCompute{}, "convolution_weight_grad", in.dtype(), [&]<class A>() {
    run_gemm<A>("convolution_weight_grad", context, in.device(), shape, WeightGrad<A>{c});
  });
}

void conv_weight_grad_cuda(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& in,
                           const Tensor& grad_out, const ConvGeometry& g) {
  const Context context(in.device());
  if (!narrow_weight_grad(context, grad_weight, in, grad_out, g) &&
      !in_one_order(grad_weight, in, grad_out, [&](MemoryFormat order, const Tensor& result) {
        return cudnn_conv_weight_grad(context, result, in_order(in, order),
                                      in_order(grad_out, order), g);
      }))
    own_weight_grad(context, grad_weight, in, grad_out, g);
  if (!grad_bias.defined()) return;
  DimMask all_but_channels;
  for (int64_t d = 0; d < grad_out.dim(); ++d)
    if (d != 1) all_but_channels.add(d);
  sum_slot(kCUDA, grad_bias, grad_out, all_but_channels);
}

}  // namespace

void register_conv() {
  fill_slots<On<conv_slot, conv_cuda>, On<conv_input_grad_slot, conv_input_grad_cuda>,
             On<conv_weight_grad_slot, conv_weight_grad_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
