#include "taeda/ops/histogram.h"

#include <cmath>

#include "taeda/ops/arithmetic.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/pointwise.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/shape.h"
#include "taeda/ops/sort.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

using Range = std::optional<ArrayRef<double>>;

/// Points [..., D] and their weights.
void check_points(const Tensor& self, const Tensor& weight) {
  check_floating("histogramdd", self);
  TAEDA_CHECK(self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions");
  if (!weight.defined()) return;
  TAEDA_CHECK(weight.device() == self.device(), "Expected all tensors to be on the same device, ",
              "but found the input on ", self.device(), " and weights on ", weight.device());
  TAEDA_CHECK(weight.sizes() == self.sizes().slice(0, self.sizes().size() - 1),
              "torch.histogramdd: if weight tensor is provided it should have the same shape as "
              "the input tensor excluding its innermost dimension, but got input with shape ",
              self.sizes(), " and weight with shape ", weight.sizes());
  TAEDA_CHECK(weight.dtype() == self.dtype(),
              "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
              "should have the same dtype, but got input(",
              self.dtype(), "), and weight(", weight.dtype(), ")");
}

void check_edges(const Tensor& self, TensorList bins) {
  const int64_t dims = self.size(-1);
  TAEDA_CHECK(static_cast<int64_t>(bins.size()) == dims, "torch.histogramdd: expected ", dims,
              " sequences of bin edges for a ", dims, "-dimensional histogram but got ",
              bins.size());
  for (size_t d = 0; d < bins.size(); ++d) {
    TAEDA_CHECK(bins[d].device() == self.device(), "Expected all tensors to be on the same ",
                "device, but found the input on ", self.device(), " and bins on ",
                bins[d].device());
    TAEDA_CHECK(bins[d].dtype() == self.dtype(),
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                "got input with dtype ",
                self.dtype(), " and bins for dimension ", d, " with dtype ", bins[d].dtype());
    TAEDA_CHECK(bins[d].dim() == 1,
                "torch.histogramdd: bins tensor should have one dimension, but got ", bins[d].dim(),
                " dimensions in the bins tensor for dimension ", d);
    TAEDA_CHECK(bins[d].numel() > 0,
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                "in the bins tensor for dimension ",
                d);
  }
}

/// Counts of points [N, D] without a history.
Tensor counted(const Tensor& points, TensorList edges, const Tensor& weight, bool density) {
  DimVector sizes;
  Tensor place = zeros({points.size(0)}, TensorOptions(kLong).device(points.device()));
  Tensor inside = place.eq(0);
  int64_t cells = 1;
  for (size_t d = 0; d < edges.size(); ++d) {
    const Tensor x = points.select(1, static_cast<int64_t>(d)).contiguous();
    const int64_t count = edges[d].numel() - 1;
    sizes.push_back(count);
    cells *= count;
    if (count == 0) continue;
    inside = inside.logical_and(x.ge(edges[d][0])).logical_and(x.le(edges[d][count]));
    const Tensor bin = searchsorted(edges[d], x, false, true).sub(1).clamp(0, count - 1);
    place = place.mul(count).add(bin);
  }
  Tensor hist = zeros({cells}, points.options());
  if (cells > 0 && points.size(0) > 0) {
    const Tensor each =
        weight.defined() ? weight.detach().reshape({-1}) : ones({points.size(0)}, points.options());
    hist = hist.index_add(0, place, where(inside, each, Scalar(0)));
  }
  hist = hist.reshape(sizes);
  if (!density) return hist;
  hist = hist.div(hist.sum());
  for (size_t d = 0; d < edges.size(); ++d) {
    DimVector shape(sizes.size(), 1);
    shape[d] = sizes[d];
    hist = hist.div(edges[d].diff().reshape(shape));
  }
  return hist;
}

/// The ends of a dimension's range: given, or the extremes, apart by 1 where both are one.
std::pair<double, double> ends_of(const Tensor& points, int64_t d, const Range& range) {
  double low = 0, high = 1;
  if (range) {
    low = (*range)[static_cast<size_t>(2 * d)];
    high = (*range)[static_cast<size_t>(2 * d + 1)];
  } else if (points.size(0) > 0 && !points.is_meta()) {
    const Tensor x = points.select(1, d);
    const auto [least, most] = x.aminmax();
    low = least.item<double>();
    high = most.item<double>();
  }
  TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histogramdd: dimension ", d,
              "'s range [", low, ", ", high, "] is not finite");
  TAEDA_CHECK(low <= high, "torch.histogramdd: min should not exceed max, but got min ", low,
              " max ", high, " for dimension ", d);
  if (low == high) return {low - 0.5, high + 0.5};
  return {low, high};
}

/// Edges of bins of one width.
std::vector<Tensor> even_edges(const Tensor& self, IntArrayRef bins, const Range& range) {
  const int64_t dims = self.size(-1);
  TAEDA_CHECK(static_cast<int64_t>(bins.size()) == dims,
              "histogramdd: The size of bins must be equal to the innermost dimension of the "
              "input.");
  TAEDA_CHECK(!range || static_cast<int64_t>(range->size()) == 2 * dims,
              "torch.histogramdd: for a ", dims, "-dimensional histogram range should have ",
              2 * dims, " elements, but got ", range->size());
  const TensorOptions options = self.options().requires_grad(false);
  const Tensor points = self.detach().reshape({-1, dims});
  std::vector<Tensor> edges;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t count = bins[static_cast<size_t>(d)];
    TAEDA_CHECK(count > 0, "torch.histogram(): bins must be > 0, but got ", count,
                " for dimension ", d);
    const auto [low, high] = ends_of(points, d, range);
    edges.push_back(linspace(low, high, count + 1, options));
  }
  return edges;
}

}  // namespace

std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight,
                                     bool density) {
  const auto column = [](const Tensor& t) { return t.defined() ? t.reshape({-1}) : t; };
  TAEDA_CHECK(!weight.defined() || weight.sizes() == self.sizes(),
              "torch.histogramdd: if weight tensor is provided it should have the same shape as "
              "the input tensor excluding its innermost dimension, but got input with shape ",
              self.sizes(), " and weight with shape ", weight.sizes());
  auto [hist, edges] =
      histogramdd(self.reshape({-1, 1}), TensorList(&bins, 1), {}, column(weight), density);
  return {hist, edges[0]};
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, Range range,
                                     const Tensor& weight, bool density) {
  check_floating("histogramdd", self);
  const NoGradGuard guard;
  return histogram(self, even_edges(self.reshape({-1, 1}), bins, range)[0], weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins, Range,
                                                    const Tensor& weight, bool density) {
  check_points(self, weight);
  check_edges(self, bins);
  const NoGradGuard guard;
  std::vector<Tensor> edges;
  for (const Tensor& t : bins) edges.push_back(t.detach().clone());
  return {counted(self.detach().reshape({-1, self.size(-1)}), edges, weight, density), edges};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    Range range, const Tensor& weight,
                                                    bool density) {
  check_points(self, weight);
  const NoGradGuard guard;
  return histogramdd(self, even_edges(self, bins, range), {}, weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins, Range range,
                                                    const Tensor& weight, bool density) {
  check_points(self, weight);
  const DimVector each(static_cast<size_t>(self.size(-1)), bins);
  return histogramdd(self, IntArrayRef(each), range, weight, density);
}

}  // namespace taeda::inline v0_2
