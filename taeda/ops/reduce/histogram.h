// How often numbers and points fall into bins. A bin has its lower edge, the last one the upper
// edge too; what lies outside of all counts for nothing. Nothing here has a derivative.
// [operations, dtypes: floating]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// How many elements (or the sum of their weights) fall between edges `bins`, in ascending order,
/// and the edges; `density` divides by the total and the bins' widths.
/// [method, out, returns: hist bin_edges]
std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins,
                                     const Tensor& weight = {}, bool density = false);
/// The same with `bins` bins of one width over `range` {low, high}, by default the extremes of
/// `self`.
/// [method, out, returns: hist bin_edges]
std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins = 100,
                                     std::optional<ArrayRef<double>> range = {},
                                     const Tensor& weight = {}, bool density = false);

/// `histogram` of points [..., D]: counts in D dimensions, and the edges of each, which `bins`
/// holds or gives the numbers of. `range` has both ends for each dimension; `weight` is one number
/// for each point.
/// [composite, returns: hist bin_edges]
std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins,
                                                    std::optional<ArrayRef<double>> range = {},
                                                    const Tensor& weight = {},
                                                    bool density = false);
/// The same number of bins in all dimensions.
/// [composite, returns: hist bin_edges]
std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins,
                                                    std::optional<ArrayRef<double>> range = {},
                                                    const Tensor& weight = {},
                                                    bool density = false);
/// As many bins in each dimension as `bins` says.
/// [composite, returns: hist bin_edges]
std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    std::optional<ArrayRef<double>> range = {},
                                                    const Tensor& weight = {},
                                                    bool density = false);

}  // namespace taeda::inline v0_2
