#include "taeda/ops/reduce/histogram.h"

#include <algorithm>
#include <cmath>

#include "bodies/histogram.h"
#include "bodies/statistics.h"
#include "taeda/device/host_graph.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/histogram_rows.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/shape.h"
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

/// How edges were made.
enum class Bins { Even, Any };

/// The bin of an x between the first and the last edge of even bins: computed, and moved while the
/// rounded edges say so.
template <class T>
int64_t even_bin(T x, const T* edges, int64_t count, double scale) {
  const double place = (static_cast<double>(x) - static_cast<double>(edges[0])) * scale;
  int64_t k = std::min(static_cast<int64_t>(place), count - 1);
  while (x < edges[k]) --k;
  while (k + 1 < count && x >= edges[k + 1]) ++k;
  return k;
}

/// Adds up ones or weights of numbers on the host in even bins.
template <class T, class Sum>
void add_to_even_bins(const Tensor& x, const Tensor& edges, const Sum* weights, Sum* sums) {
  const T *numbers = x.data_ptr<T>(), *edge = edges.data_ptr<T>();
  const int64_t count = edges.numel() - 1;
  const T low = edge[0], high = edge[count];
  const double width = static_cast<double>(high) - static_cast<double>(low);
  const double scale = width > 0 ? static_cast<double>(count) / width : 0;
  for (int64_t i = 0; i < x.numel(); ++i)
    if (low <= numbers[i] && numbers[i] <= high)
      sums[even_bin(numbers[i], edge, count, scale)] += weights ? weights[i] : Sum(1);
}

Tensor counted_in_even_bins(const Tensor& x, const Tensor& edges, const Tensor& weight) {
  const int64_t count = edges.numel() - 1;
  Tensor sums;
  dispatch(TypeList<float, double>{}, "histogram", x.dtype(), [&]<class T>() {
    sums = zeros({count}, x.options().dtype(weight.defined() ? x.dtype() : kLong));
    if (weight.defined())
      add_to_even_bins<T, T>(x, edges, weight.data_ptr<T>(), sums.data_ptr<T>());
    else
      add_to_even_bins<T, int64_t>(x, edges, nullptr, sums.data_ptr<int64_t>());
  });
  return sums.to(x.dtype());
}

/// Counts of points [N, D] without a history.
Tensor sums_of_bins(const Tensor& points, TensorList edges, const Tensor& weight, Bins bins) {
  if (bins == Bins::Even && edges.size() == 1 && detail::can_look_at_values(points.device()) &&
      (points.dtype() == kFloat || points.dtype() == kDouble))
    return counted_in_even_bins(
        points.reshape({-1}).contiguous(), edges[0],
        weight.defined() ? weight.detach().reshape({-1}).contiguous() : Tensor());
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
  return hist.reshape(sizes);
}

Tensor counted(const Tensor& points, TensorList edges, const Tensor& weight, bool density,
               Bins bins) {
  Tensor hist = sums_of_bins(points, edges, weight, bins);
  if (!density) return hist;
  hist = hist.div(hist.sum());
  for (size_t d = 0; d < edges.size(); ++d) {
    DimVector shape(edges.size(), 1);
    shape[d] = edges[d].numel() - 1;
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

std::tuple<Tensor, std::vector<Tensor>> histogram_of_points(const Tensor& self, TensorList edges,
                                                            const Tensor& weight, bool density,
                                                            Bins bins) {
  check_points(self, weight);
  check_edges(self, edges);
  const NoGradGuard guard;
  std::vector<Tensor> copies;
  for (const Tensor& t : edges) copies.push_back(t.detach().clone());
  return {counted(self.detach().reshape({-1, self.size(-1)}), copies, weight, density, bins),
          copies};
}

std::tuple<Tensor, Tensor> histogram_of_numbers(const Tensor& self, const Tensor& edges,
                                                const Tensor& weight, bool density, Bins bins) {
  const auto column = [](const Tensor& t) { return t.defined() ? t.reshape({-1}) : t; };
  TAEDA_CHECK(!weight.defined() || weight.sizes() == self.sizes(),
              "torch.histogramdd: if weight tensor is provided it should have the same shape as "
              "the input tensor excluding its innermost dimension, but got input with shape ",
              self.sizes(), " and weight with shape ", weight.sizes());
  auto [hist, copies] = histogram_of_points(self.reshape({-1, 1}), TensorList(&edges, 1),
                                            column(weight), density, bins);
  return {hist, copies[0]};
}

}  // namespace

std::tuple<Tensor, Tensor> do_histogram(const Tensor& self, const Tensor& bins,
                                        const Tensor& weight, bool density) {
  return histogram_of_numbers(self, bins, weight, density, Bins::Any);
}

std::tuple<Tensor, Tensor> do_histogram(const Tensor& self, int64_t bins, Range range,
                                        const Tensor& weight, bool density) {
  check_floating("histogramdd", self);
  const NoGradGuard guard;
  return histogram_of_numbers(self, even_edges(self.reshape({-1, 1}), bins, range)[0], weight,
                              density, Bins::Even);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins, Range,
                                                    const Tensor& weight, bool density) {
  return histogram_of_points(self, bins, weight, density, Bins::Any);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    Range range, const Tensor& weight,
                                                    bool density) {
  check_points(self, weight);
  const NoGradGuard guard;
  return histogram_of_points(self, even_edges(self, bins, range), weight, density, Bins::Even);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins, Range range,
                                                    const Tensor& weight, bool density) {
  check_points(self, weight);
  const DimVector each(static_cast<size_t>(self.size(-1)), bins);
  return histogramdd(self, IntArrayRef(each), range, weight, density);
}

namespace {

/// Adds one to the bin of each of `n` numbers between `low` and `high`.
template <class T>
void count_even(const T* numbers, int64_t n, double low, double high, int64_t bins,
                int64_t* counts) {
  const auto count = static_cast<double>(bins);
  for (int64_t i = 0; i < n; ++i) {
    const auto number = static_cast<double>(numbers[i]);
    if (!(low <= number && number <= high)) continue;
    ++counts[std::min(static_cast<int64_t>((number - low) / (high - low) * count), bins - 1)];
  }
}

/// A range as it is counted in, which has some width.
std::pair<double, double> range_of_bins(double low, double high) {
  TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high,
              "] is not finite");
  if (low == high) low -= 1, high += 1;
  TAEDA_CHECK(low < high, "torch.histc: max must be larger than min");
  return {low, high};
}

/// Where the bins of each row begin and end: [rows, 1] in doubles.
std::pair<Tensor, Tensor> ranges_of_rows(const Tensor& x, double low, double high) {
  const TensorOptions doubles = TensorOptions(kDouble);
  if (low != high || x.numel() == 0 || x.is_meta()) {
    const auto [first, last] = range_of_bins(low, high);
    const DimVector column{x.size(0), 1};
    return {full(column, first, doubles.device(x.device())),
            full(column, last, doubles.device(x.device()))};
  }
  const Tensor lows = x.amin({1}, true).to(Device(kCPU), kDouble).contiguous(),
               highs = x.amax({1}, true).to(Device(kCPU), kDouble).contiguous();
  for (int64_t i = 0; i < x.size(0); ++i) {
    double &first = lows.data_ptr<double>()[i], &last = highs.data_ptr<double>()[i];
    std::tie(first, last) = range_of_bins(first, last);
  }
  return {lows.to(x.device()), highs.to(x.device())};
}

}  // namespace

Tensor detail::histc_of_rows(const Tensor& rows, int64_t bins, const Scalar& min,
                             const Scalar& max) {
  check_floating("histc", rows);
  TAEDA_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  const NoGradGuard guard;
  const int64_t count = rows.size(0), each = rows.size(1);
  const auto [low, high] = ranges_of_rows(rows, min.to<double>(), max.to<double>());
  const TensorOptions numbers = rows.options();
  if (can_look_at_values(rows.device()) && (rows.dtype() == kFloat || rows.dtype() == kDouble)) {
    const Tensor x = rows.contiguous(), counts = zeros({count, bins}, numbers.dtype(kLong));
    dispatch(TypeList<float, double>{}, "histc", x.dtype(), [&]<class T>() {
      for (int64_t i = 0; i < count; ++i)
        count_even(x.data_ptr<T>() + i * each, each, low.data_ptr<double>()[i],
                   high.data_ptr<double>()[i], bins, counts.data_ptr<int64_t>() + i * bins);
    });
    return counts.to(rows.dtype());
  }
  const Tensor wide = rows.to(kDouble), inside = logical_and(ge(wide, low), le(wide, high));
  const Tensor place = wide.sub(low).div(high.sub(low)).mul(bins).floor().clamp(0, bins - 1);
  return zeros({count, bins}, numbers)
      .scatter_add_(1, place.masked_fill(inside.logical_not(), 0).to(kLong),
                    inside.to(rows.dtype()));
}

Tensor do_histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  return detail::histc_of_rows(self.reshape({1, self.numel()}), bins, min, max).squeeze(0);
}

}  // namespace taeda::inline v0_2
