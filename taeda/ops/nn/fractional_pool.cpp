#include "taeda/ops/nn/fractional_pool.h"

#include "bodies/fractional_pool.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2 {

namespace {

constexpr const char* kAxisNames[] = {"time", "height", "width"};

/// One value for each dimension of a window.
IntArrayRef spread_over(const char* op, const char* what, IntArrayRef list, size_t dims,
                        DimVector& storage) {
  TAEDA_CHECK(list.size() == 1 || list.size() == dims, op, ": ", what,
              " must either be a single Int or tuple of Ints");
  storage = list.size() == dims ? DimVector(list) : DimVector(dims, list[0]);
  return storage;
}

void check_fractional_pool(const char* op, const Tensor& self, IntArrayRef kernel,
                           IntArrayRef output, const Tensor& samples) {
  const auto dims = static_cast<int64_t>(kernel.size());
  check_floating(op, self);
  TAEDA_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, "(): Expected ", dims + 1,
              "D or ", dims + 2, "D tensor, but got: ", self.sizes());
  for (int64_t d = self.dim() == dims + 2 ? 1 : 0; d < self.dim(); ++d)
    TAEDA_CHECK(self.size(d) > 0, op,
                "(): Expected input to have non-zero size for non-batch dimensions, but got ",
                self.sizes(), " with dimension ", d, " being empty.");
  for (int64_t d = 0; d < dims; ++d) {
    const auto i = static_cast<size_t>(d);
    TAEDA_CHECK(kernel[i] > 0 && output[i] > 0, op, "(): kernel_size and output_size must be ",
                "positive, but got ", kernel, " and ", output);
    // PyTorch leaves volumes one row more.
    const int64_t needed = output[i] + kernel[i] - (dims == 2 ? 1 : 0);
    const char* axis = kAxisNames[i + 3 - kernel.size()];
    TAEDA_CHECK(needed <= self.size(d - dims), op, dims == 2 ? "" : "_out", "(): pool ", axis, " ",
                kernel[i], " too large relative to input ", axis, " ", self.size(d - dims));
  }
  TAEDA_CHECK(samples.dim() == 3, "Expect _random_samples to have 3 dimensions, got ",
              samples.dim());
  TAEDA_CHECK(self.dim() == dims + 1 || samples.size(0) >= self.size(0),
              "Expect _random_samples.size(0) no less then input batch size.");
  TAEDA_CHECK(samples.size(1) == self.size(-dims - 1),
              "Expect _random_samples.size(1) equals to input channel size.");
  TAEDA_CHECK(samples.size(2) == dims, "Expect _random_samples.size(2) equals to ", dims, "; got ",
              samples.size(2), ".");
}

/// The rows of every window along one dimension, [N, C, output * kernel]: windows begin at
/// int((i + u) a) - int(u a), with a = (input - kernel) / (output - 1), and the last one ends with
/// the input.
Tensor window_rows(const Tensor& u, int64_t input, int64_t kernel, int64_t output) {
  const TensorOptions options = u.options();
  Tensor begin = full({u.size(0), u.size(1), output}, input - kernel, options.dtype(kLong));
  if (output > 1) {
    const double alpha = static_cast<double>(input - kernel) / static_cast<double>(output - 1);
    const Tensor first = u.unsqueeze(2);
    const Tensor steps = arange(output - 1, options).add(first).mul(alpha).to(kLong);
    begin.narrow(2, 0, output - 1).copy_(steps.sub(first.mul(alpha).to(kLong)));
  }
  const Tensor within = arange(kernel, begin.options());
  return begin.unsqueeze(3).add(within).flatten(2);
}

/// [N, C, d0 k0, d1 k1, ...] -> [N, C, d0, d1, ..., k0 k1 ...].
Tensor windows_last(const Tensor& x, IntArrayRef output, IntArrayRef kernel) {
  DimVector split = {x.size(0), x.size(1)}, order = {0, 1};
  for (size_t d = 0; d < output.size(); ++d) {
    split.push_back(output[d]);
    split.push_back(kernel[d]);
    order.push_back(static_cast<int64_t>(2 + 2 * d));
  }
  for (size_t d = 0; d < output.size(); ++d) order.push_back(static_cast<int64_t>(3 + 2 * d));
  return x.view(split).permute(order).flatten(2 + static_cast<int64_t>(output.size()));
}

std::tuple<Tensor, Tensor> fractional_max_pool(const char* op, size_t dims, const Tensor& self,
                                               IntArrayRef kernel_size, IntArrayRef output_size,
                                               const Tensor& samples) {
  DimVector kernel_storage, output_storage;
  const IntArrayRef kernel = spread_over(op, "kernel_size", kernel_size, dims, kernel_storage);
  const IntArrayRef output = spread_over(op, "output_size", output_size, dims, output_storage);
  check_fractional_pool(op, self, kernel, output, samples);
  const auto count = static_cast<int64_t>(dims);
  if (self.dim() == count + 1) {
    const auto [values, indices] =
        fractional_max_pool(op, dims, self.unsqueeze(0), kernel, output, samples.narrow(0, 0, 1));
    return {values.squeeze(0), indices.squeeze(0)};
  }
  const Tensor drawn = samples.detach().narrow(0, 0, self.size(0)).to(self.dtype());
  Tensor index;
  for (int64_t d = 0; d < count; ++d) {
    // Images take the samples of the last dimension first.
    const Tensor u = drawn.select(2, dims == 2 ? 1 - d : d);
    const auto i = static_cast<size_t>(d);
    const Tensor rows = window_rows(u, self.size(2 + d), kernel[i], output[i]);
    index = d == 0 ? rows
                   : index.mul(self.size(2 + d))
                         .unsqueeze(-1)
                         .add(rows.view({rows.size(0), rows.size(1), 1, rows.size(2)}));
    if (d > 0) index = index.flatten(2);
  }
  DimVector grown = {self.size(0), self.size(1)};
  for (size_t d = 0; d < dims; ++d) grown.push_back(output[d] * kernel[d]);
  const Tensor places = windows_last(index.view(grown), output, kernel);
  const Tensor elements = self.flatten(2).gather(2, places.flatten(2)).view(places.sizes());
  const auto [values, which] = elements.max(-1);
  return {values, places.gather(-1, which.unsqueeze(-1)).squeeze(-1)};
}

}  // namespace

std::tuple<Tensor, Tensor> do_fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                                    IntArrayRef output_size,
                                                    const Tensor& random_samples) {
  return fractional_max_pool("fractional_max_pool2d", 2, self, kernel_size, output_size,
                             random_samples);
}

std::tuple<Tensor, Tensor> do_fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                                    IntArrayRef output_size,
                                                    const Tensor& random_samples) {
  return fractional_max_pool("fractional_max_pool3d", 3, self, kernel_size, output_size,
                             random_samples);
}

}  // namespace taeda::inline v0_2
