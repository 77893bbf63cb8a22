// Weights that are computed from other parameters before each call of a module.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include "taeda/nn/hooks.h"

namespace taeda::inline v0_2::nn::utils {

namespace detail {

/// What a weight becomes: other parameters, which the module owns in its place.
class WeightRule {
 public:
  virtual ~WeightRule() = default;
  /// Registers parameters (and buffers) from which `compute` makes a weight.
  virtual void begin(Module& module, const Tensor& weight) const = 0;
  virtual Tensor compute(Module& module, bool training) const = 0;
  /// Takes them back.
  virtual void end(Module& module) const = 0;
};

std::unique_ptr<WeightRule> weight_norm_rule(OptionalDim dim);
/// Throws ValueError unless there is an iteration.
std::unique_ptr<WeightRule> spectral_norm_rule(int64_t iterations, double eps, int64_t dim);

template <class Holder>
concept HoldsWeight = requires(Holder& h) {
  { h->weight } -> std::same_as<Tensor&>;
};

}  // namespace detail

/// A weight that is computed, until `remove`. A module with one cannot be cloned: its class would
/// not know the parameters.
class ComputedWeight {
 public:
  using Member = std::function<Tensor&(Module&)>;
  ComputedWeight(std::shared_ptr<Module> module, Member weight,
                 std::unique_ptr<detail::WeightRule> rule);
  /// Makes the weight a parameter again, with the value that it has. Nothing if it is one.
  void remove();

 private:
  std::shared_ptr<Module> module_;
  Member weight_;
  std::shared_ptr<const detail::WeightRule> rule_;
  HookHandle hook_;
};

/// weight = g v / |v| (Salimans and Kingma 2016, arXiv:1602.07868): the module's parameter "weight"
/// becomes "weight_g" and "weight_v". The norm is that of all but dimension `dim`, or without one
/// of everything. For modules that are called through their holders, a Sequential or nn::call.
template <detail::HoldsWeight Holder>
ComputedWeight weight_norm(const Holder& module, OptionalDim dim = 0) {
  using M = typename Holder::ContainedType;
  return {module.ptr(), [](Module& m) -> Tensor& { return static_cast<M&>(m).weight; },
          detail::weight_norm_rule(dim)};
}

/// weight = weight_orig / s, s being the largest singular value of the weight as a matrix of
/// dimension `dim` by all others, by `n_power_iterations` of the power method from where the last
/// call while training ended (Miyato et al. 2018, arXiv:1802.05957): buffers "weight_u" and
/// "weight_v", which start random. Transposed convolutions take `dim` 1.
template <detail::HoldsWeight Holder>
ComputedWeight spectral_norm(const Holder& module, int64_t n_power_iterations = 1,
                             double eps = 1e-12, int64_t dim = 0) {
  using M = typename Holder::ContainedType;
  return {module.ptr(), [](Module& m) -> Tensor& { return static_cast<M&>(m).weight; },
          detail::spectral_norm_rule(n_power_iterations, eps, dim)};
}

}  // namespace taeda::inline v0_2::nn::utils
