#include "taeda/nn/functional/padding.h"

#include <algorithm>

#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

Tensor pad_constant(Tensor x, IntArrayRef pad, double value) {
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
    std::vector<Tensor> parts;
    const auto border = [&](int64_t n) {
      if (n <= 0) return;
      DimVector sizes = x.sizes();
      sizes[dim] = n;
      parts.push_back(full(sizes, value, x.options()));
    };
    border(before);
    parts.push_back(x);
    border(after);
    if (parts.size() > 1) x = cat(parts, dim);
  }
  return x;
}

/// Which entry of a dimension of `size` stands at each place of the padded one.
Tensor source_indices(int64_t size, int64_t before, int64_t after, PaddingMode mode,
                      Device device) {
  Tensor index = make_tensor({before + size + after}, kLong, Device(kCPU));
  int64_t* p = index.data_ptr<int64_t>();
  for (int64_t i = -before; i < size + after; ++i) {
    int64_t from = i;
    if (mode == PaddingMode::Reflect)
      from = i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    else if (mode == PaddingMode::Replicate)
      from = std::clamp<int64_t>(i, 0, size - 1);
    else
      from = (i + size) % size;
    *p++ = from;
  }
  return device.is_cpu() ? index : index.to(device);
}

}  // namespace

Tensor pad(const Tensor& input, IntArrayRef pad, PaddingMode mode, double value) {
  if (is_observed())
    return observe(
        "pad",
        [&](const Tensor& x, IntArrayRef amounts, int64_t, double filled) {
          return functional::pad(x, amounts, mode, filled);
        },
        input, pad, static_cast<int64_t>(mode), value);
  TAEDA_CHECK(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  TAEDA_CHECK(static_cast<int64_t>(pad.size()) <= input.dim() * 2, "Padding length too large");
  if (mode == PaddingMode::Constant) return pad_constant(input, pad, value);
  Tensor x = input;
  for (size_t i = 0; i * 2 < pad.size(); ++i) {
    const int64_t dim = x.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = pad[2 * i], after = pad[2 * i + 1], size = x.size(dim);
    if (before == 0 && after == 0) continue;
    TAEDA_CHECK(before >= 0 && after >= 0,
                "Negative padding is possible in constant mode only, but got ", before, " and ",
                after, " at dimension ", dim);
    if (mode == PaddingMode::Reflect)
      TAEDA_CHECK(before < size && after < size,
                  "Padding size should be less than the corresponding input dimension, but got: "
                  "padding (",
                  before, ", ", after, ") at dimension ", dim, " of input ", input.sizes());
    else
      TAEDA_CHECK(size > 0, "Expected a non-empty input to pad, but got ", input.sizes());
    if (mode == PaddingMode::Circular)
      TAEDA_CHECK(before <= size && after <= size,
                  "Padding value causes wrapping around more than once.");
    x = x.index_select(dim, source_indices(size, before, after, mode, x.device()));
  }
  return x;
}

}  // namespace taeda::inline v0_2::nn::functional
