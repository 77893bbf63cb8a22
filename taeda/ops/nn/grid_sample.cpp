#include "taeda/ops/nn/grid_sample.h"

#include <array>
#include <limits>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/door.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/fused_backward.h"

namespace taeda::inline v0_2::detail {

namespace {

// ---- Of differentiable operations, for second derivatives and exporters

/// Positions mirrored at low and high until they lie between.
Tensor reflect(const Tensor& x, double low, double high) {
  const double span = high - low;
  if (span <= 0) return x.mul(0);
  const Tensor distance = x.sub(low).abs();
  const Tensor flips = distance.detach().div(span).floor();
  const Tensor rest = distance.sub(flips.mul(span));
  return taeda::where(flips.remainder(2).eq(1), rest.neg().add(span), rest).add(low);
}

/// Positions outside of a dimension of `size` elements clamped, or mirrored, into it; with zeros as
/// padding they stay where they are.
Tensor inside_image(const Tensor& p, int64_t size, const GridSampling& s) {
  const auto n = static_cast<double>(size);
  if (s.padding == GridPadding::Zeros) return p;
  const Tensor inside = s.padding == GridPadding::Border ? p
                        : s.align_corners                ? reflect(p, 0, n - 1)
                                                         : reflect(p, -0.5, n - 0.5);
  return inside.clamp(0, n - 1);
}

/// Grid coordinates as positions in a dimension of `size` elements.
Tensor position(const Tensor& x, int64_t size, const GridSampling& s) {
  const auto n = static_cast<double>(size);
  return s.align_corners ? x.add(1).mul((n - 1) / 2) : x.add(1).mul(n / 2).sub(0.5);
}

/// The shares of the rows before, at, behind and second behind a position that lies `t` behind its
/// row: `cubic_share`.
std::array<Tensor, 4> cubic_shares(const Tensor& t) {
  constexpr double kA = -0.75;
  const auto near = [](const Tensor& x) { return x.mul(kA + 2).sub(kA + 3).mul(x).mul(x).add(1); };
  const auto far = [](const Tensor& x) {
    return x.mul(kA).sub(5 * kA).mul(x).add(8 * kA).mul(x).sub(4 * kA);
  };
  const Tensor rest = t.neg().add(1);
  return {far(t.add(1)), near(t), near(rest), far(rest.add(1))};
}

/// What places take part of in one dimension, tap by tap.
struct ComposedTaps {
  std::vector<Tensor> rows, inside, shares;
};

ComposedTaps composed_taps(const Tensor& coordinate, int64_t size, const GridSampling& s) {
  const bool cubic = s.mode == GridMode::Bicubic;
  Tensor p = position(coordinate, size, s);
  if (!cubic) p = inside_image(p, size, s);
  const Tensor low = s.mode == GridMode::Nearest ? p.detach().round() : p.detach().floor();
  const Tensor t = p.sub(low);
  ComposedTaps taps;
  if (cubic) {
    const std::array<Tensor, 4> shares = cubic_shares(t);
    taps.shares.assign(shares.begin(), shares.end());
  } else if (s.mode == GridMode::Bilinear) {
    taps.shares = {t.neg().add(1), t};
  } else {
    taps.shares = {taeda::ones_like(t)};
  }
  for (int tap = 0; tap < grid_taps(s.mode); ++tap) {
    Tensor row = low.add(cubic ? tap - 1 : tap);
    if (cubic) row = inside_image(row, size, s);
    taps.inside.push_back(row.ge(0).logical_and(row.le(size - 1)));
    taps.rows.push_back(row.clamp(0, size - 1).to(kLong));
  }
  return taps;
}

Tensor composed_sample(const Tensor& input, const Tensor& grid, const GridSampling& s) {
  const int64_t dims = input.dim() - 2, batch = input.size(0), channels = input.size(1);
  const Tensor places = grid.flatten(1, -2), pixels = input.flatten(2);  // [N, P, dims], [N, C, HW]
  std::vector<ComposedTaps> axes;
  for (int64_t d = 0; d < dims; ++d)
    axes.push_back(composed_taps(places.select(-1, dims - 1 - d), input.size(d + 2), s));
  const auto per_axis = static_cast<size_t>(grid_taps(s.mode));
  size_t all = 1;
  for (int64_t d = 0; d < dims; ++d) all *= per_axis;
  Tensor out;
  for (size_t tap = 0; tap < all; ++tap) {
    Tensor index, weight, inside;
    size_t rest = tap;
    for (int64_t d = 0; d < dims; ++d, rest /= per_axis) {
      const ComposedTaps& axis = axes[static_cast<size_t>(d)];
      const size_t i = rest % per_axis;
      index = d == 0 ? axis.rows[i] : index.mul(input.size(d + 2)).add(axis.rows[i]);
      inside = d == 0 ? axis.inside[i] : inside.logical_and(axis.inside[i]);
      weight = d == 0 ? axis.shares[i] : weight.mul(axis.shares[i]);
    }
    const Tensor value =
        pixels.gather(2, index.unsqueeze(1).expand({batch, channels, index.size(1)}))
            .masked_fill(inside.logical_not().unsqueeze(1), 0)
            .mul(weight.unsqueeze(1));
    out = tap == 0 ? value : out.add(value);
  }
  return out.unflatten(2, grid.sizes().slice(1, static_cast<size_t>(dims)));
}

// ---- One kernel

struct GridSampleState {
  autograd::Saved input, grid;
  GridSampling sampling;
};

/// What kernels number with 32 bits.
bool fits_kernel(const Tensor& input) {
  int64_t plane = 1;
  for (int64_t d = 2; d < input.dim(); ++d) plane *= input.size(d);
  return plane <= std::numeric_limits<int32_t>::max();
}

TensorVec fused_gradients(const GridSampleState& s, const Tensor& g, Needs needs) {
  const Tensor input = s.input.unpack(), grid = s.grid.unpack();
  const auto room = [](bool needed, const Tensor& t) {
    return needed ? make_tensor(t.sizes(), t.dtype(), t.device()) : Tensor();
  };
  TensorVec out{room(needs[0], input), room(needs[1], grid)};
  if (input.numel() == 0 || grid.numel() == 0) {
    for (const Tensor& t : out)
      if (t.defined()) t.zero_();
  } else {
    grid_sample_backward_slot(g.device().type(), out[0], out[1], g.contiguous(), input.contiguous(),
                              grid.contiguous(), s.sampling);
  }
  return out;
}

TensorVec composed_gradients(const GridSampleState& s, const Tensor& g, Needs needs) {
  const std::vector<Tensor> in{s.input.unpack(), s.grid.unpack()};
  TensorVec out = recorded_gradients(
      [&](TensorList given) { return composed_sample(given[0], given[1], s.sampling); }, in, g,
      needs);
  // The nearest element does not depend on the place.
  if (needs[1] && !out[1].defined()) out[1] = taeda::zeros_like(in[1]);
  return out;
}

Tensor sampled(const Tensor& input, const Tensor& grid, const GridSampling& sampling) {
  check_floating("grid_sampler", input);
  check_floating("grid_sampler", grid);
  TAEDA_CHECK(input.dtype() == grid.dtype(), "expected scalar type ", input.dtype(), " but found ",
              grid.dtype());
  if (!fits_kernel(input)) return composed_sample(input, grid, sampling);
  DimVector sizes(grid.sizes());
  sizes.pop_back();
  sizes.insert(1, input.size(1));
  const Tensor out = make_tensor(sizes, input.dtype(), input.device());
  if (out.numel() > 0) {
    const NoGradGuard guard;
    grid_sample_slot(input.device().type(), out, input.contiguous(), grid.contiguous(), sampling);
  }
  if (wants_grad(input, grid)) {
    const char* node = input.dim() == 4 ? "GridSampler2DBackward0" : "GridSampler3DBackward0";
    record(node, out, {input, grid},
           [s = GridSampleState{save_tensor(input, "input"), save_tensor(grid, "grid"), sampling}](
               const Tensor& g, Needs needs) {
             return fused_or_differentiable([&] { return fused_gradients(s, g, needs); },
                                            [&] { return composed_gradients(s, g, needs); });
           });
  }
  return out;
}

}  // namespace

// No operation by a declaration, whose arguments would have to be told one by one.
Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampling& sampling) {
  using Sampler = Door<Tensor(const Tensor&, const Tensor&, const GridSampling&)>;
  if (!Interceptors::any()) return sampled(input, grid, sampling);
  return Sampler::pass_by_parts(
      {.name = "grid_sampler", .casts = {policy::Cast::float32, policy::Cast::promote}}, sampled,
      composed_sample, input, grid, sampling);
}

}  // namespace taeda::inline v0_2::detail
