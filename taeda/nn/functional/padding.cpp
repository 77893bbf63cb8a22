#include "taeda/nn/functional/padding.h"

#include <algorithm>

#include "taeda/autograd/record.h"
#include "taeda/base/checked_int.h"
#include "taeda/nn/functional/door.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

/// Without what a negative padding cuts off.
Tensor cropped(Tensor x, IntArrayRef pad) {
  for (size_t i = 0; i * 2 < pad.size(); ++i) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    // More than there is to cut is refused whatever it is.
    const int64_t most = x.size(dim) + 1, cut_before = -std::clamp<int64_t>(before, -most, 0),
                  cut_after = -std::clamp<int64_t>(after, -most, 0);
    TAEDA_CHECK(x.size(dim) - cut_before - cut_after >= 0, "The input size ", x.size(dim),
                ", plus negative padding ", before, " and ", after,
                ", resulted in a negative output size, which is invalid. Check dimension ", dim,
                " of your input.");
    if (cut_before || cut_after)
      x = x.narrow(dim, cut_before, x.size(dim) - cut_before - cut_after);
  }
  return x;
}

/// Where the input lies in what is padded around it.
Tensor centre_of(Tensor out, IntArrayRef pad, IntArrayRef sizes) {
  for (size_t i = 0; i * 2 < pad.size(); ++i) {
    const int64_t dim = out.dim() - 1 - static_cast<int64_t>(i);
    out = out.narrow(dim, std::max<int64_t>(pad[2 * i], 0), sizes[static_cast<size_t>(dim)]);
  }
  return out;
}

/// Room for `x` and what is padded around it, with x in its place.
Tensor surrounded(const Tensor& x, IntArrayRef pad) {
  DimVector sizes = x.sizes();
  for (size_t i = 0; i * 2 < pad.size(); ++i) {
    const auto dim = static_cast<size_t>(x.dim()) - 1 - i;
    sizes[dim] = (CheckedInt(sizes[dim]) + std::max<int64_t>(pad[2 * i], 0) +
                  std::max<int64_t>(pad[2 * i + 1], 0))
                     .value("pad");
  }
  Tensor out = make_tensor(sizes, x.dtype(), x.device());
  centre_of(out, pad, x.sizes()).copy_(x);
  return out;
}

/// Calls f(dimension, what of the result it has, padding before, behind) for each dimension that is
/// padded. What comes after it is whole by then; of dimensions before it there is the centre alone.
template <class F>
void for_each_border(const Tensor& out, IntArrayRef pad, IntArrayRef sizes, F&& f) {
  const size_t n = pad.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    const int64_t before = std::max<int64_t>(pad[2 * i], 0),
                  after = std::max<int64_t>(pad[2 * i + 1], 0);
    if (before == 0 && after == 0) continue;
    Tensor part = out;
    for (size_t k = i + 1; k < n; ++k) {
      const int64_t dim = out.dim() - 1 - static_cast<int64_t>(k);
      part = part.narrow(dim, std::max<int64_t>(pad[2 * k], 0), sizes[static_cast<size_t>(dim)]);
    }
    f(out.dim() - 1 - static_cast<int64_t>(i), part, before, after);
  }
}

Tensor pad_constant(const Tensor& input, IntArrayRef pad, double value) {
  const Tensor x = cropped(input, pad);
  const bool pads = std::any_of(pad.begin(), pad.end(), [](int64_t n) { return n > 0; });
  if (!pads) return x.clone();
  taeda::detail::check_reduced(value, input.dtype());
  Tensor out;
  {
    const NoGradGuard guard;
    out = surrounded(x, pad);
    for_each_border(out, pad, x.sizes(),
                    [&](int64_t dim, const Tensor& part, int64_t before, int64_t after) {
                      part.narrow(dim, 0, before).fill_(value);
                      part.narrow(dim, part.size(dim) - after, after).fill_(value);
                    });
  }
  if (wants_grad(x))
    record("ConstantPadNdBackward0", out, {x},
           [pad = DimVector(pad), sizes = DimVector(x.sizes())](const Tensor& g) {
             return centre_of(g, pad, sizes);
           });
  return out;
}

/// Which entry of a dimension of `size` stands at place i, counted from the first entry.
int64_t source_of(int64_t i, int64_t size, PaddingMode mode) {
  if (mode == PaddingMode::Reflect) return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
  if (mode == PaddingMode::Replicate) return std::clamp<int64_t>(i, 0, size - 1);
  return (i + size) % size;
}

/// Which entry of a dimension of `size` stands at each place of the padded one.
Tensor source_indices(int64_t size, int64_t before, int64_t after, PaddingMode mode,
                      Device device) {
  Tensor index = make_tensor({before + size + after}, kLong, Device(kCPU));
  int64_t* p = index.data_ptr<int64_t>();
  for (int64_t i = -before; i < size + after; ++i) *p++ = source_of(i, size, mode);
  return device.is_cpu() ? index : index.to(device);
}

/// The borders are copies of rows of the centre.
Tensor pad_with_rows(const Tensor& x, IntArrayRef pad, PaddingMode mode) {
  Tensor out;
  {
    const NoGradGuard guard;
    out = surrounded(x, pad);
    for_each_border(
        out, pad, x.sizes(), [&](int64_t dim, const Tensor& part, int64_t before, int64_t after) {
          const int64_t size = x.size(dim), room = before + size + after;
          const auto source = [&](int64_t i) { return source_of(i - before, size, mode) + before; };
          const auto copy_row = [&](int64_t i) {
            part.narrow(dim, i, 1).copy_(part.narrow(dim, source(i), 1));
          };
          for (int64_t i = 0; i < before; ++i) copy_row(i);
          for (int64_t i = before + size; i < room; ++i) copy_row(i);
        });
  }
  if (wants_grad(x))
    record("PadBackward0", out, {x},
           [pad = DimVector(pad), mode, shape = DimVector(x.sizes())](const Tensor& g) {
             Tensor sum = g;
             for (size_t i = pad.size() / 2; i-- > 0;) {
               const auto dim = static_cast<size_t>(g.dim()) - 1 - i;
               if (pad[2 * i] == 0 && pad[2 * i + 1] == 0) continue;
               const Tensor index =
                   source_indices(shape[dim], pad[2 * i], pad[2 * i + 1], mode, g.device());
               DimVector sizes = sum.sizes();
               sizes[dim] = shape[dim];
               sum = sum.new_zeros(sizes).index_add(static_cast<int64_t>(dim), index, sum);
             }
             return sum;
           });
  return out;
}

/// The input without what negative amounts cut off, which are 0 afterwards: only what is left is
/// mirrored or repeated.
Tensor cut(Tensor x, DimVector& amounts) {
  for (size_t i = 0; i * 2 < amounts.size(); ++i) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(i);
    const int64_t first = std::max<int64_t>(-amounts[2 * i], 0),
                  last = std::max<int64_t>(-amounts[2 * i + 1], 0);
    if (first == 0 && last == 0) continue;
    TAEDA_CHECK(x.size(dim) > first + last, "Padding of ", amounts[2 * i], " and ",
                amounts[2 * i + 1], " leaves nothing of dimension ", dim, " of input ", x.sizes());
    x = x.narrow(dim, first, x.size(dim) - first - last);
    amounts[2 * i] = std::max<int64_t>(amounts[2 * i], 0);
    amounts[2 * i + 1] = std::max<int64_t>(amounts[2 * i + 1], 0);
  }
  return x;
}

Tensor do_pad(const Tensor& input, IntArrayRef pad, int64_t mode_number, double value) {
  const auto mode = static_cast<PaddingMode>(mode_number);
  TAEDA_CHECK(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  TAEDA_CHECK(
      static_cast<int64_t>(pad.size()) <= input.dim() * 2,
      "Padding length should be less than or equal to two times the input dimension but got "
      "padding length ",
      pad.size(), " and input of dimension ", input.dim());
  if (mode == PaddingMode::Constant) return pad_constant(input, pad, value);
  const auto padded = static_cast<int64_t>(pad.size() / 2);
  TAEDA_CHECK_NOT_IMPLEMENTED(
      padded >= 1 && padded <= 3 && (input.dim() == padded + 1 || input.dim() == padded + 2),
      "Padding size ", pad.size(), " is not supported for ", input.dim(),
      "D input tensor: other modes than constant pad the last 1, 2 or 3 dimensions of an input "
      "that has one or two more");
  DimVector amounts(pad);
  const Tensor kept = cut(input, amounts);
  for (size_t i = 0; i * 2 < pad.size(); ++i) {
    const int64_t dim = input.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = amounts[2 * i], after = amounts[2 * i + 1], size = kept.size(dim);
    if (before == 0 && after == 0) continue;
    if (mode == PaddingMode::Reflect)
      TAEDA_CHECK(before < size && after < size,
                  "Padding size should be less than the corresponding input dimension, but got: "
                  "padding (",
                  before, ", ", after, ") at dimension ", dim, " of input ", kept.sizes());
    else
      TAEDA_CHECK(size > 0, "Expected a non-empty input to pad, but got ", kept.sizes());
    if (mode == PaddingMode::Circular)
      TAEDA_CHECK(before <= size && after <= size,
                  "Padding value causes wrapping around more than once.");
  }
  return pad_with_rows(kept, amounts, mode);
}

}  // namespace

Tensor pad(const Tensor& input, IntArrayRef pad, PaddingMode mode, double value) {
  // Autocast widens what PyTorch has own operations for.
  static constexpr OperationTraits plain{.name = "pad"},
      widened{.name = "pad", .casts = {policy::Cast::float32, policy::Cast::none}};
  const bool is_wide =
      mode == PaddingMode::Replicate || (mode == PaddingMode::Reflect && pad.size() <= 4);
  return detail::through_door<&do_pad>(is_wide ? widened : plain, input, pad,
                                       static_cast<int64_t>(mode), value);
}

}  // namespace taeda::inline v0_2::nn::functional
