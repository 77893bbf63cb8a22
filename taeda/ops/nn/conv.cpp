// Note [Gradients of convolutions] Convolution, its gradient by the input and its gradient by the
// weight are three functions, each linear in its two arguments, and the gradient of each is made of
// the other two. They are recorded in terms of each other, so every order of derivative exists.
#include "taeda/ops/nn/conv.h"

#include <cstring>
#include <limits>

#include "bodies/conv.h"
#include "taeda/autograd/record.h"
#include "taeda/base/checked_int.h"
#include "taeda/kernels/conv.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

namespace {

Tensor convolve(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias,
                const ConvGeometry& geometry, IntArrayRef sizes);
Tensor input_grad(const char* name, const Tensor& g, const Tensor& w, const Tensor& bias,
                  const ConvGeometry& geometry, IntArrayRef sizes);
TensorVec weight_grad(const Tensor& x, const Tensor& g, const ConvGeometry& geometry,
                      const Layout& taps, ScalarType dtype, bool with_bias);

/// Dense memory for these sizes in the order of `like`, or of `other`, if one is channels-last.
Layout dense_layout(IntArrayRef sizes, const Tensor& like, const Tensor& other = {}) {
  if (is_channels_last_only(like) || (other.defined() && is_channels_last_only(other)))
    return {sizes, strides_in(sizes, channels_last_of(like.dim())), 0};
  return Layout::contiguous(sizes);
}

/// An output of a convolution: channels-last if its input or its weight is.
Tensor make_output(IntArrayRef sizes, const Tensor& input, const Tensor& weight) {
  return make_tensor(dense_layout(sizes, input, weight), input.dtype(), input.device());
}

/// Sums everything but the channels.
Tensor channel_sums(const Tensor& g) {
  DimVector dims{0};
  for (int64_t d = 2; d < g.dim(); ++d) dims.push_back(d);
  return g.sum(dims);
}

Tensor as_channels(const Tensor& bias, int64_t ndim) {
  DimVector sizes(static_cast<size_t>(ndim), 1);
  sizes[0] = bias.size(0);
  return bias.reshape(sizes);
}

/// The result where there is nothing to multiply.
void fill_with_bias(const Tensor& out, const Tensor& bias) {
  out.zero_();
  if (bias.defined()) out.add_(as_channels(bias, out.dim() - 1));
}

Tensor convolve(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias,
                const ConvGeometry& geometry, IntArrayRef sizes) {
  Tensor out = make_output(sizes, x, w);
  if (x.numel() == 0 || w.numel() == 0) {
    const NoGradGuard guard;
    fill_with_bias(out, bias);
  } else if (out.numel() > 0) {
    conv_slot(x.device().type(), out, x, w, bias, geometry);
  }
  if (wants_grad(x, w, bias))
    record(name, out, {x, w, bias},
           [x = save_if(w.requires_grad(), x, "input"), w = save_if(x.requires_grad(), w, "weight"),
            geometry, in = DimVector(x.sizes()), taps = dense_layout(w.sizes(), w),
            dtype = w.dtype()](const Tensor& g, Needs needs) {
             TensorVec grads{{}, {}, {}};
             if (needs[0])
               grads[0] =
                   input_grad("ConvolutionBackwardBackward0", g, w.unpack(), {}, geometry, in);
             if (needs[1]) {
               const TensorVec both = weight_grad(x.unpack(), g, geometry, taps, dtype, needs[2]);
               grads[1] = both[0];
               if (needs[2]) grads[2] = both[1];
             } else if (needs[2]) {
               grads[2] = channel_sums(g);
             }
             return grads;
           });
  return out;
}

Tensor input_grad(const char* name, const Tensor& g, const Tensor& w, const Tensor& bias,
                  const ConvGeometry& geometry, IntArrayRef sizes) {
  Tensor out = make_output(sizes, g, w);
  if (g.numel() == 0 || w.numel() == 0) {
    const NoGradGuard guard;
    fill_with_bias(out, bias);
  } else if (out.numel() > 0) {
    conv_input_grad_slot(g.device().type(), out, g, w, bias, geometry);
  }
  if (wants_grad(g, w, bias))
    record(
        name, out, {g, w, bias},
        [g = save_if(w.requires_grad(), g, "grad_output"),
         w = save_if(g.requires_grad(), w, "weight"), geometry, small = DimVector(g.sizes()),
         taps = dense_layout(w.sizes(), w), dtype = w.dtype()](const Tensor& grad, Needs needs) {
          return TensorVec{
              needs[0] ? convolve("ConvolutionBackward0", grad, w.unpack(), {}, geometry, small)
                       : Tensor(),
              needs[1] ? weight_grad(grad, g.unpack(), geometry, taps, dtype, false)[0] : Tensor(),
              needs[2] ? channel_sums(grad) : Tensor()};
        });
  return out;
}

/// The gradient has the weight's layout `taps` and its dtype.
TensorVec weight_grad(const Tensor& x, const Tensor& g, const ConvGeometry& geometry,
                      const Layout& taps, ScalarType dtype, bool with_bias) {
  Tensor out = make_tensor(taps, dtype, x.device()), sums;
  if (with_bias) sums = make_tensor({taps.sizes[0]}, dtype, x.device());
  if (g.numel() > 0 && x.numel() > 0 && out.numel() > 0) {
    conv_weight_grad_slot(x.device().type(), out, sums, x, g, geometry);
  } else {
    out.zero_();
    if (with_bias) sums.copy_(channel_sums(g.detach()));
  }
  if (!wants_grad(x, g)) return {out, sums};
  std::vector<Tensor> outs{out};
  if (with_bias) outs.push_back(sums);
  autograd::record_multi(
      "ConvolutionBackwardBackward0", outs, {x, g},
      [x = save_tensor(x), g = save_tensor(g, "g"), geometry, in = DimVector(x.sizes()),
       small = DimVector(g.sizes())](const TensorVec& grads, Needs needs) {
        Tensor gx, gg;
        if (needs[0] && grads[0].defined())
          gx = input_grad("ConvolutionBackward0", g.unpack(), grads[0], {}, geometry, in);
        if (needs[1] && grads[0].defined())
          gg = convolve("ConvolutionBackward0", x.unpack(), grads[0], {}, geometry, small);
        if (needs[1] && grads.size() > 1 && grads[1].defined()) {
          const Tensor spread =
              as_channels(grads[1], static_cast<int64_t>(small.size()) - 1).expand(small);
          gg = gg.defined() ? gg.add(spread) : spread;
        }
        return TensorVec{gx, gg};
      });
  return {out, sums};
}

/// One value for all dimensions, or one each.
void spread(const char* what, IntArrayRef list, int ndim, int64_t* out) {
  TAEDA_CHECK(list.size() == 1 || list.size() == static_cast<size_t>(ndim), "expected ", what,
              " to be a single integer value or a list of ", ndim,
              " values to match the convolution dimensions, but got ", what, "=", list);
  for (int d = 0; d < ndim; ++d) out[d] = list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}

/// "(3 x 4)".
std::string crossed(IntArrayRef sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? " x " : "") + std::to_string(sizes[i]);
  return out + ")";
}

ConvGeometry make_geometry(int ndim, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                           int64_t groups) {
  ConvGeometry geometry;
  geometry.ndim = ndim;
  geometry.groups = groups;
  spread("stride", stride, ndim, geometry.stride);
  spread("padding", padding, ndim, geometry.padding);
  spread("dilation", dilation, ndim, geometry.dilation);
  TAEDA_CHECK(groups > 0, "non-positive groups is not supported");
  for (int d = 0; d < ndim; ++d) {
    TAEDA_CHECK(geometry.padding[d] >= 0, "negative padding is not supported");
    TAEDA_CHECK(geometry.stride[d] > 0, "non-positive stride is not supported");
    TAEDA_CHECK(geometry.dilation[d] > 0, "dilation should be greater than zero");
    for (const int64_t n : {geometry.stride[d], geometry.padding[d], geometry.dilation[d]})
      TAEDA_CHECK(n <= std::numeric_limits<int32_t>::max(), "convolution: stride, padding and ",
                  "dilation must be below 2^31, but got ", n);
  }
  return geometry;
}

/// Whether the convolution runs under autocast with the weight and the bias that it was given, for
/// a device that computes in float32.
bool keeps_weights(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t groups) {
  if (!policy::rounds_weights(input, weight, bias) || weight.dim() < 2) return false;
  const DeviceType type = input.device().type();
  const auto ask = conv_precision_slot.get(type);
  ProductPrecision precision;
  if (ask) ask(AutocastMode::dtype(type), weight, groups, &precision);
  return precision.float32;
}

/// Whether it runs under autocast with all operands in the lower precision.
bool casts_all(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t groups) {
  return policy::applies(input) && !keeps_weights(input, weight, bias, groups);
}

/// The input of a convolution in the dtype it computes in. Where autocast is still on for it,
/// `keeps_weights` said so.
class Input {
 public:
  explicit Input(const Tensor& input)
      : is_cast_(policy::applies(input)),
        input_(is_cast_ ? policy::to_lower_precision(input) : input) {}
  const Tensor& get() const { return input_; }
  bool keeps_weights() const { return is_cast_; }

 private:
  const bool is_cast_;
  const Tensor input_;
  const AutocastMode::Pause pause_;
};

/// Dimensions, dtypes and devices; true if the input has no batch dimension.
bool check_operands(const char* op, int ndim, const Tensor& x, const Tensor& w, const Tensor& bias,
                    bool keeps_weights) {
  TAEDA_CHECK(x.dim() == ndim + 1 || x.dim() == ndim + 2, "Expected ", ndim + 1,
              "D (unbatched) or ", ndim + 2, "D (batched) input to ", op,
              ", but got input of size: ", x.sizes());
  TAEDA_CHECK(w.dim() == ndim + 2, "Expected ", ndim + 2, "-dimensional weight for ", op,
              ", but got weight of size ", w.sizes());
  for (int d = 2; d < ndim + 2; ++d)
    TAEDA_CHECK(w.sizes()[d] > 0, op,
                ": kernel size should be greater than zero, but got weight of size ", w.sizes());
  check_same_device(op, {&x, &w});
  const bool any = keeps_weights && w.dtype() == kFloat;
  TAEDA_CHECK(any || x.dtype() == w.dtype(), "Input type (", x.dtype(), ") and weight type (",
              w.dtype(), ") should be the same");
  TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_point(x.dtype()), "\"", op, "\" not implemented for '",
                              x.dtype(), "'");
  if (bias.defined()) {
    check_same_device(op, {&x, &bias});
    TAEDA_CHECK(any || x.dtype() == bias.dtype(), "Input type (", x.dtype(), ") and bias type (",
                bias.dtype(), ") should be the same");
  }
  return x.dim() == ndim + 1;
}

void check_bias(const char* given, const Tensor& w, const Tensor& bias, int64_t channels) {
  TAEDA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.size(0) == channels), given, w.sizes(),
              ", expected bias to be 1-dimensional with ", channels,
              " elements, but got bias of size ", bias.sizes(), " instead");
}

void check_channels(const char* given, const Tensor& x, const Tensor& w, int64_t want, int ndim) {
  const int64_t have = x.size(-ndim - 1);
  TAEDA_CHECK(have == want, given, w.sizes(), ", expected input", x.sizes(), " to have ", want,
              " channels, but got ", have, " channels instead");
}

/// A function of two complex tensors, linear in each, by three of their real parts: with
/// p = f(a, c) and q = f(b, d), f(a + bi, c + di) = p - q + (f(a + b, c + d) - p - q) i.
template <class F>
Tensor by_parts(const Tensor& x, const Tensor& w, const Tensor& bias, const F& f) {
  const Tensor a = real(x), b = imag(x), c = real(w), d = imag(w);
  Tensor first, both;
  if (bias.defined()) {
    first = real(bias);
    both = first.add(imag(bias));
  }
  const Tensor p = f(a, c, first), q = f(b, d, Tensor());
  return make_complex(p.sub(q), f(a.add(b), c.add(d), both).sub(p).sub(q));
}

/// Whether all that is multiplied is complex and of one dtype.
bool are_complex(const Tensor& x, const Tensor& w, const Tensor& bias) {
  return x.is_complex() && w.dtype() == x.dtype() && (!bias.defined() || bias.dtype() == x.dtype());
}

Tensor conv(const char* op, int ndim, const Tensor& given_x, const Tensor& w, const Tensor& bias,
            IntArrayRef stride, const ConvPadding& padding, IntArrayRef dilation, int64_t groups) {
  if (casts_all(given_x, w, bias, groups))
    return policy::lower_precision(
        [&](const Tensor& a, const Tensor& b, const Tensor& c) {
          return conv(op, ndim, a, b, c, stride, padding, dilation, groups);
        },
        given_x, w, bias);
  const Input input(given_x);
  const Tensor& x = input.get();
  if (are_complex(x, w, bias)) [[unlikely]]
    return by_parts(x, w, bias, [&](const Tensor& a, const Tensor& b, const Tensor& c) {
      return conv(op, ndim, a, b, c, stride, padding, dilation, groups);
    });
  const bool unbatched = check_operands(op, ndim, x, w, bias, input.keeps_weights());
  ConvGeometry geometry =
      make_geometry(ndim, stride, padding.same() ? IntArrayRef(0) : IntArrayRef(padding.sizes()),
                    dilation, groups);
  const std::string given = detail::concat("Given groups=", groups, ", weight of size ");
  TAEDA_CHECK(w.size(0) >= groups && w.size(0) % groups == 0, "Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size [", w.sizes(), "] instead");
  check_channels(given.c_str(), x, w, w.size(1) * groups, ndim);
  check_bias("Given weight of size ", w, bias, w.size(0));
  DimVector sizes{unbatched ? 1 : x.size(0), w.size(0)}, padded, kernel;
  bool fits = true;
  for (int d = 0; d < ndim; ++d) {
    const int64_t in = x.size(d - ndim), k = w.size(d + 2);
    const int64_t reach = (CheckedInt(geometry.dilation[d]) * (CheckedInt(k) - 1)).value(op);
    int64_t total = (CheckedInt(geometry.padding[d]) * 2).value(op);
    if (padding.same()) {
      TAEDA_CHECK(geometry.stride[d] == 1,
                  "padding='same' is not supported for strided convolutions");
      total = reach;
      geometry.padding[d] = reach / 2;
    }
    padded.push_back((CheckedInt(in) + total).value(op));
    kernel.push_back((CheckedInt(reach) + 1).value(op));
    fits = fits && padded.back() >= kernel.back();
    sizes.push_back((padded.back() - kernel.back()) / geometry.stride[d] + 1);
  }
  TAEDA_CHECK(fits, "Calculated padded input size per channel: ", crossed(padded),
              ". Kernel size: ", crossed(kernel),
              ". Kernel size can't be greater than actual input size");
  const Tensor out =
      convolve("ConvolutionBackward0", unbatched ? x.unsqueeze(0) : x, w, bias, geometry, sizes);
  return unbatched ? out.squeeze(0) : out;
}

Tensor conv_transpose(const char* op, int ndim, const Tensor& given_x, const Tensor& w,
                      const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  if (casts_all(given_x, w, bias, groups))
    return policy::lower_precision(
        [&](const Tensor& a, const Tensor& b, const Tensor& c) {
          return conv_transpose(op, ndim, a, b, c, stride, padding, output_padding, groups,
                                dilation);
        },
        given_x, w, bias);
  const Input input(given_x);
  const Tensor& x = input.get();
  if (are_complex(x, w, bias)) [[unlikely]]
    return by_parts(x, w, bias, [&](const Tensor& a, const Tensor& b, const Tensor& c) {
      return conv_transpose(op, ndim, a, b, c, stride, padding, output_padding, groups, dilation);
    });
  const bool unbatched = check_operands(op, ndim, x, w, bias, input.keeps_weights());
  const ConvGeometry geometry = make_geometry(ndim, stride, padding, dilation, groups);
  int64_t extra[3];
  spread("output_padding", output_padding, ndim, extra);
  const char* given = "Given transposed=1, weight of size ";
  TAEDA_CHECK(w.size(0) >= groups && w.size(0) % groups == 0, "Given groups=", groups,
              ", expected weight to be divisible by ", groups,
              " at dimension 0, but got weight of size [", w.sizes(), "] instead");
  check_channels(given, x, w, w.size(0), ndim);
  check_bias(given, w, bias, w.size(1) * groups);
  DimVector sizes{unbatched ? 1 : x.size(0), w.size(1) * groups}, in;
  bool fits = true;
  for (int d = 0; d < ndim; ++d) {
    TAEDA_CHECK(extra[d] >= 0, "negative output_padding is not supported");
    TAEDA_CHECK(extra[d] < std::max(geometry.stride[d], geometry.dilation[d]),
                "output padding must be smaller than either stride or dilation, but got "
                "output_padding: ",
                extra[d], " stride: ", geometry.stride[d], " dilation: ", geometry.dilation[d]);
    in.push_back(x.size(d - ndim));
    const CheckedInt reach = CheckedInt(geometry.dilation[d]) * (CheckedInt(w.size(d + 2)) - 1);
    const CheckedInt size = (CheckedInt(in.back()) - 1) * geometry.stride[d] -
                            CheckedInt(geometry.padding[d]) * 2 + reach + extra[d] + 1;
    sizes.push_back(size.value(op));
    fits = fits && sizes.back() > 0;
  }
  TAEDA_CHECK(fits, "Given input size per channel: ", crossed(in),
              ". Calculated output size per channel: ",
              crossed(IntArrayRef(sizes).slice(2, in.size())), ". Output size is too small");
  const Tensor out =
      input_grad("ConvolutionBackward0", unbatched ? x.unsqueeze(0) : x, w, bias, geometry, sizes);
  return unbatched ? out.squeeze(0) : out;
}

}  // namespace

ConvPadding::ConvPadding(const char* word) : sizes_{0} {
  TAEDA_CHECK(word, "Invalid padding string: a null pointer; expected 'same' or 'valid'");
  same_ = std::strcmp(word, "same") == 0;
  TAEDA_CHECK(same_ || std::strcmp(word, "valid") == 0, "Invalid padding string: '", word, "'");
}

Tensor do_conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                 const ConvPadding& padding, IntArrayRef dilation, int64_t groups) {
  return conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}
Tensor do_conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                 const ConvPadding& padding, IntArrayRef dilation, int64_t groups) {
  return conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}
Tensor do_conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                 const ConvPadding& padding, IntArrayRef dilation, int64_t groups) {
  return conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor do_conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                           int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding,
                        groups, dilation);
}
Tensor do_conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                           int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding,
                        groups, dilation);
}
Tensor do_conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding,
                           int64_t groups, IntArrayRef dilation) {
  return conv_transpose("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding,
                        groups, dilation);
}

}  // namespace taeda::inline v0_2
