#include "taeda/ops/nn/pool.h"

#include "bodies/pool.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/runs_once.h"
#include "taeda/autograd/zero_derivative.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/kernels/pool.h"
#include "taeda/kernels/reduce.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2 {

using autograd::with_zero_derivative;

namespace {

/// Names that depend on the number of dimensions.
struct PoolNames {
  const char *max_pool, *avg_pool, *adaptive_avg_pool, *adaptive_max_pool;
  const char *max_backward, *avg_backward, *adaptive_avg_backward, *adaptive_max_backward;
};
constexpr PoolNames kPoolNames[] = {
    {"max_pool1d", "avg_pool1d", "adaptive_avg_pool1d", "adaptive_max_pool1d",
     "MaxPool1DWithIndicesBackward0", "AvgPool1DBackward0", "AdaptiveAvgPool1DBackward0",
     "AdaptiveMaxPool1DBackward0"},
    {"max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d",
     "MaxPool2DWithIndicesBackward0", "AvgPool2DBackward0", "AdaptiveAvgPool2DBackward0",
     "AdaptiveMaxPool2DBackward0"},
    {"max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d",
     "MaxPool3DWithIndicesBackward0", "AvgPool3DBackward0", "AdaptiveAvgPool3DBackward0",
     "AdaptiveMaxPool3DBackward0"}};
const PoolNames& names(int ndim) { return kPoolNames[ndim - 1]; }
constexpr const char* kCount[] = {"one int", "two ints", "three ints"};

/// The kernels read and write dense memory, of all tensors in one order: the input's, backward too.
MemoryFormat order_of(int ndim, const Tensor& t) {
  const bool batched = t.dim() == ndim + 2;  // one picture in 3 dimensions looks like a batch in 2
  return batched && is_channels_last_only(t) ? channels_last_of(t.dim()) : MemoryFormat::Contiguous;
}
Tensor dense(const Tensor& t, MemoryFormat order) {
  if (t.is_contiguous(order)) return t;
  NoGradGuard no_grad;
  return t.contiguous(order);
}
Tensor make_dense(IntArrayRef sizes, ScalarType dtype, Device device, MemoryFormat order) {
  return make_tensor(Layout{sizes, strides_in(sizes, order), 0}, dtype, device);
}

void spread(const char* op, const char* what, IntArrayRef list, int ndim, int64_t* out) {
  TAEDA_CHECK(list.size() == 1 || list.size() == static_cast<size_t>(ndim), op, ": ", what,
              " must either be a single int, or a tuple of ", kCount[ndim - 1]);
  for (int d = 0; d < ndim; ++d) out[d] = list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}

/// "(1x3x3)": channels and spatial sizes.
std::string volume(int64_t channels, IntArrayRef sizes) {
  std::string out = "(" + std::to_string(channels);
  for (const int64_t n : sizes) out += "x" + std::to_string(n);
  return out + ")";
}

PoolGeometry make_geometry(const char* op, int ndim, IntArrayRef kernel, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation) {
  PoolGeometry g;
  g.ndim = ndim;
  spread(op, "kernel_size", kernel, ndim, g.kernel);
  spread(op, "stride", stride.empty() ? kernel : stride, ndim, g.stride);
  spread(op, "padding", padding, ndim, g.padding);
  spread(op, "dilation", dilation, ndim, g.dilation);
  for (int d = 0; d < ndim; ++d) {
    TAEDA_CHECK(g.kernel[d] > 0, "kernel size should be greater than zero, but got ", g.kernel[d]);
    TAEDA_CHECK(g.stride[d] != 0, "stride should not be zero");
    TAEDA_CHECK(g.stride[d] > 0, "stride should be greater than zero, but got ", g.stride[d]);
    TAEDA_CHECK(g.dilation[d] > 0, "dilation should be greater than zero, but got ", g.dilation[d]);
    TAEDA_CHECK(g.padding[d] >= 0, "pad must be non-negative, but got pad: ", g.padding[d]);
    TAEDA_CHECK(g.padding[d] <= g.kernel[d] / 2,
                "pad should be at most half of kernel size, but got pad=", g.padding[d],
                " and kernel_size=", g.kernel[d]);
  }
  return g;
}

void check_input(const char* op, int ndim, const Tensor& x) {
  bool valid = x.dim() == ndim + 1 || x.dim() == ndim + 2;
  for (int64_t d = x.dim() - ndim - 1; valid && d < x.dim(); ++d) valid = x.size(d) > 0;
  TAEDA_CHECK(
      valid, op, ": Expected ", ndim + 1, "D or ", ndim + 2,
      "D (batch mode) tensor with optional 0 dim batch size for input, but got:", x.sizes());
  TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_point(x.dtype()), "\"", op, "\" not implemented for '",
                              x.dtype(), "'");
}

DimVector output_sizes(const char* op, const Tensor& x, const PoolGeometry& g, bool ceil_mode) {
  DimVector sizes = x.sizes();
  bool fits = true;
  for (int d = 0; d < g.ndim; ++d) {
    int64_t& size = sizes[sizes.size() - static_cast<size_t>(g.ndim - d)];
    const int64_t in = size;
    const CheckedInt reach = CheckedInt(g.dilation[d]) * (CheckedInt(g.kernel[d]) - 1);
    const int64_t room = (CheckedInt(in) + CheckedInt(g.padding[d]) * 2 - reach - 1).value(op);
    if (room < 0 && !ceil_mode) {
      size = 0;
    } else {
      const int64_t up = (CheckedInt(room) + (ceil_mode ? g.stride[d] - 1 : 0)).value(op);
      size = (up >= 0 ? up / g.stride[d] : -((-up + g.stride[d] - 1) / g.stride[d])) + 1;
      // The last window must start inside the input or the padding before it.
      if (ceil_mode && (size - 1) * g.stride[d] >= in + g.padding[d]) --size;
    }
    fits = fits && size > 0;
  }
  const size_t spatial = sizes.size() - static_cast<size_t>(g.ndim);
  TAEDA_CHECK(fits,
              "Given input size: ", volume(x.size(-g.ndim - 1), x.sizes().slice(spatial, g.ndim)),
              ". Calculated output size: ",
              volume(x.size(-g.ndim - 1), IntArrayRef(sizes).slice(spatial, g.ndim)),
              ". Output size is too small");
  return sizes;
}

// ---- Max

/// What backward of max pooling knows.
struct MaxPoolState {
  autograd::Saved window;
  PoolGeometry geometry;
  DimVector sizes;  // of the input
  MemoryFormat order;
  const char* name;
};

Tensor max_pool_backward(const Tensor& g, const MaxPoolState& s);

/// What stands in `x` at the winners' places; the gradient of max_pool_backward.
Tensor max_pool_gather(const Tensor& x, const MaxPoolState& s) {
  const Tensor window = s.window.unpack();
  Tensor out = make_dense(window.sizes(), x.dtype(), x.device(), s.order);
  if (out.numel() > 0)
    max_pool_gather_slot(x.device().type(), out, dense(x, s.order), window, s.geometry);
  if (wants_grad(x)) {
    MaxPoolState again = s;
    again.window = save_tensor(window, "window");
    record(s.name, out, {x},
           [again = std::move(again)](const Tensor& g) { return max_pool_backward(g, again); });
  }
  return out;
}

Tensor max_pool_backward(const Tensor& g, const MaxPoolState& s) {
  const Tensor window = s.window.unpack();
  Tensor out = make_dense(s.sizes, g.dtype(), g.device(), s.order);
  if (out.numel() > 0)
    max_pool_backward_slot(g.device().type(), out, dense(g, s.order), window, s.geometry);
  if (wants_grad(g)) {
    MaxPoolState again = s;
    again.window = save_tensor(window, "window");
    record(s.name, out, {g},
           [again = std::move(again)](const Tensor& gg) { return max_pool_gather(gg, again); });
  }
  return out;
}

struct MaxPool {
  Tensor out, window;
  PoolGeometry geometry;
};

MaxPool run_max_pool(int ndim, const Tensor& input, IntArrayRef kernel, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, bool want_window) {
  const char* op = names(ndim).max_pool;
  MaxPool pool;
  pool.geometry = make_geometry(op, ndim, kernel, stride, padding, dilation);
  check_input(op, ndim, input);
  const DimVector sizes = output_sizes(op, input, pool.geometry, ceil_mode);
  const MemoryFormat order = order_of(ndim, input);
  pool.out = make_dense(sizes, input.dtype(), input.device(), order);
  CheckedInt cells = 1;
  for (int d = 0; d < ndim; ++d) cells = cells * pool.geometry.kernel[d];
  const int64_t area = cells.value(op);
  TAEDA_CHECK(area <= std::numeric_limits<int32_t>::max(), op,
              ": a window must have less than 2^31 elements, but got kernel size ", kernel);
  const bool record_it = wants_grad(input);
  if (want_window || record_it)
    pool.window = make_dense(sizes, area <= 256 ? kByte : kInt, input.device(), order);
  if (pool.out.numel() > 0)
    max_pool_slot(input.device().type(), pool.out, pool.window, dense(input, order), pool.geometry);
  if (record_it)
    record(names(ndim).max_backward, pool.out, {input},
           [s = MaxPoolState{save_tensor(pool.window, "window"), pool.geometry,
                             DimVector(input.sizes()), order, names(ndim).max_backward}](
               const Tensor& g) { return with_zero_derivative(max_pool_backward(g, s)); });
  return pool;
}

std::tuple<Tensor, Tensor> max_pool_indices(int ndim, const Tensor& input, IntArrayRef kernel,
                                            IntArrayRef stride, IntArrayRef padding,
                                            IntArrayRef dilation, bool ceil_mode) {
  const MaxPool pool =
      run_max_pool(ndim, input, kernel, stride, padding, dilation, ceil_mode, true);
  Tensor indices = make_dense(pool.out.sizes(), kLong, input.device(), order_of(ndim, input));
  if (indices.numel() > 0)
    max_pool_indices_slot(input.device().type(), indices, pool.window,
                          dense(input, order_of(ndim, input)), pool.geometry);
  return {pool.out, indices};
}

// ---- Averages

Tensor avg_pool_run(const Tensor& x, const AveragePoolGeometry& geometry, IntArrayRef sizes);

Tensor avg_pool_backward(const Tensor& g, const AveragePoolGeometry& geometry, IntArrayRef sizes,
                         MemoryFormat order) {
  Tensor out = make_dense(sizes, g.dtype(), g.device(), order);
  if (out.numel() > 0) avg_pool_backward_slot(g.device().type(), out, dense(g, order), geometry);
  if (wants_grad(g))
    record(names(geometry.ndim).avg_backward, out, {g},
           [geometry, small = DimVector(g.sizes())](const Tensor& gg) {
             return avg_pool_run(gg, geometry, small);
           });
  return out;
}

Tensor avg_pool_run(const Tensor& x, const AveragePoolGeometry& geometry, IntArrayRef sizes) {
  const MemoryFormat order = order_of(geometry.ndim, x);
  Tensor out = make_dense(sizes, x.dtype(), x.device(), order);
  if (out.numel() > 0) avg_pool_slot(x.device().type(), out, dense(x, order), geometry);
  if (wants_grad(x)) {
    autograd::runs_once();
    record(names(geometry.ndim).avg_backward, out, {x},
           [geometry, in = DimVector(x.sizes()), order](const Tensor& g) {
             return with_zero_derivative(avg_pool_backward(g, geometry, in, order));
           });
  }
  return out;
}

Tensor avg_pool(int ndim, const Tensor& input, IntArrayRef kernel, IntArrayRef stride,
                IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor) {
  const char* op = names(ndim).avg_pool;
  TAEDA_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  AveragePoolGeometry geometry{make_geometry(op, ndim, kernel, stride, padding, 1),
                               count_include_pad, divisor.value_or(0)};
  check_input(op, ndim, input);
  return avg_pool_run(input, geometry, output_sizes(op, input, geometry, ceil_mode));
}

// ---- Adaptive windows

DimVector adaptive_sizes(const char* op, int ndim, const Tensor& x, IntArrayRef output_size) {
  TAEDA_CHECK(x.dim() == ndim + 1 || x.dim() == ndim + 2, op, "(): Expected ", ndim + 1, "D or ",
              ndim + 2, "D tensor, but got ", x.sizes());
  TAEDA_CHECK(output_size.size() == 1 || output_size.size() == static_cast<size_t>(ndim), op,
              ": output_size must be ", ndim);
  TAEDA_CHECK_NOT_IMPLEMENTED(is_floating_point(x.dtype()), "\"", op, "\" not implemented for '",
                              x.dtype(), "'");
  DimVector sizes = x.sizes();
  for (int d = 0; d < ndim; ++d) {
    const size_t at = sizes.size() - static_cast<size_t>(ndim - d);
    const int64_t want = output_size[output_size.size() == 1 ? 0 : static_cast<size_t>(d)];
    TAEDA_CHECK(want >= 0 || want == kSameSize, op,
                ": elements of output_size must be greater than or equal to 0 but received ",
                output_size);
    TAEDA_CHECK(
        sizes[at] > 0, op,
        "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
        x.sizes(), " with dimension ", at, " being empty");
    if (want != kSameSize) sizes[at] = want;
  }
  return sizes;
}

Tensor adaptive_avg_run(int ndim, const Tensor& x, IntArrayRef sizes);

Tensor adaptive_avg_backward(int ndim, const Tensor& g, IntArrayRef sizes, MemoryFormat order) {
  Tensor out = make_dense(sizes, g.dtype(), g.device(), order);
  if (g.numel() == 0)
    out.zero_();
  else
    adaptive_avg_pool_backward_slot(g.device().type(), out, dense(g, order));
  if (wants_grad(g))
    record(names(ndim).adaptive_avg_backward, out, {g},
           [ndim, small = DimVector(g.sizes())](const Tensor& gg) {
             return adaptive_avg_run(ndim, gg, small);
           });
  return out;
}

Tensor adaptive_avg_run(int ndim, const Tensor& x, IntArrayRef sizes) {
  const MemoryFormat order = order_of(ndim, x);
  Tensor out = make_dense(sizes, x.dtype(), x.device(), order);
  const DeviceType device = x.device().type();
  DimMask places;
  for (int64_t d = 2; d < x.dim(); ++d) places.add(d);
  if (out.numel() > 0 &&
      out.numel() == out.size(0) * out.size(1))  // one window: a mean, of any layout
    mean_slot(device, out, x, places);
  else if (out.numel() > 0)
    adaptive_avg_pool_slot(device, out, dense(x, order));
  if (wants_grad(x)) {
    autograd::runs_once();
    record(names(ndim).adaptive_avg_backward, out, {x},
           [ndim, in = DimVector(x.sizes()), order](const Tensor& g) {
             return with_zero_derivative(adaptive_avg_backward(ndim, g, in, order));
           });
  }
  return out;
}

Tensor adaptive_avg_pool(int ndim, const Tensor& input, IntArrayRef output_size) {
  const DimVector sizes = adaptive_sizes(names(ndim).adaptive_avg_pool, ndim, input, output_size);
  if (input.dim() == ndim + 2) return adaptive_avg_run(ndim, input, sizes);
  DimVector batched = sizes;
  batched.insert(0, 1);
  return adaptive_avg_run(ndim, input.unsqueeze(0), batched).squeeze(0);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(int ndim, const Tensor& input,
                                             IntArrayRef output_size) {
  DimVector sizes = adaptive_sizes(names(ndim).adaptive_max_pool, ndim, input, output_size);
  const bool unbatched = input.dim() == ndim + 1;
  const Tensor x = unbatched ? input.unsqueeze(0) : input;
  if (unbatched) sizes.insert(0, 1);
  Tensor out = make_tensor(sizes, x.dtype(), x.device());
  Tensor indices = make_tensor(sizes, kLong, x.device());
  if (out.numel() > 0)
    adaptive_max_pool_slot(x.device().type(), out, indices, dense(x, MemoryFormat::Contiguous));
  if (wants_grad(x))
    record(names(ndim).adaptive_max_backward, out, {x},
           [indices = save_tensor(indices, "indices"), in = DimVector(x.sizes())](const Tensor& g) {
             const int64_t channel = product(IntArrayRef(in).slice(2, in.size() - 2));
             const Tensor flat = zeros({in[0], in[1], channel}, g.options());
             return with_zero_derivative(
                 flat.scatter_add(2, indices.unpack().flatten(2), g.flatten(2)).reshape(in));
           });
  if (unbatched) return {out.squeeze(0), indices.squeeze(0)};
  return {out, indices};
}

}  // namespace

Tensor do_max_pool1d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return run_max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, false).out;
}
std::tuple<Tensor, Tensor> do_max_pool1d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                      IntArrayRef stride, IntArrayRef padding,
                                                      IntArrayRef dilation, bool ceil_mode) {
  return max_pool_indices(1, input, kernel_size, stride, padding, dilation, ceil_mode);
}
Tensor do_adaptive_avg_pool1d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_avg_pool(1, input, output_size);
}
std::tuple<Tensor, Tensor> do_adaptive_max_pool1d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max_pool(1, input, output_size);
}
Tensor do_avg_pool1d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, {});
}

Tensor do_max_pool2d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return run_max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, false).out;
}
std::tuple<Tensor, Tensor> do_max_pool2d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                      IntArrayRef stride, IntArrayRef padding,
                                                      IntArrayRef dilation, bool ceil_mode) {
  return max_pool_indices(2, input, kernel_size, stride, padding, dilation, ceil_mode);
}
Tensor do_adaptive_avg_pool2d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_avg_pool(2, input, output_size);
}
std::tuple<Tensor, Tensor> do_adaptive_max_pool2d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max_pool(2, input, output_size);
}
Tensor do_avg_pool2d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                     std::optional<int64_t> divisor_override) {
  return avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override);
}

Tensor do_max_pool3d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return run_max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, false).out;
}
std::tuple<Tensor, Tensor> do_max_pool3d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                      IntArrayRef stride, IntArrayRef padding,
                                                      IntArrayRef dilation, bool ceil_mode) {
  return max_pool_indices(3, input, kernel_size, stride, padding, dilation, ceil_mode);
}
Tensor do_adaptive_avg_pool3d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_avg_pool(3, input, output_size);
}
std::tuple<Tensor, Tensor> do_adaptive_max_pool3d(const Tensor& input, IntArrayRef output_size) {
  return adaptive_max_pool(3, input, output_size);
}
Tensor do_avg_pool3d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                     std::optional<int64_t> divisor_override) {
  return avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override);
}

}  // namespace taeda::inline v0_2
