// Muon.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Muon; a number out of its range is a ValueError.
class MuonOptions : public RuleOptions<MuonOptions, muon_rule> {
 public:
  using Coefficients = std::tuple<double, double, double>;
  TAEDA_LEARNING_RATE(MuonOptions, 1e-3)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_WEIGHT_DECAY(0.1);
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  TAEDA_OPTION(double, momentum) = 0.95;
  /// Whether steps look ahead along the momentum (Nesterov).
  TAEDA_OPTION(bool, nesterov) = true;
  /// The three coefficients of the polynomial that brings singular values near 1; the defaults are
  /// the authors'.
  TAEDA_OPTION(Coefficients, ns_coefficients) = {3.4445, -4.775, 2.0315};
  TAEDA_EPS(1e-7);
  /// How many times the polynomial is applied, at least 0 and below 100; 5 by default.
  TAEDA_OPTION(int64_t, ns_steps) = 5;
  /// How the rate follows from a matrix' shape: "original" (by default), "match_rms_adamw" or
  /// "spectral_unclamped".
  TAEDA_OPTION(std::optional<std::string>, adjust_lr_fn) = std::nullopt;
};

/// State of Muon for a parameter: the count of steps and a tensor of the parameter's shape.
class MuonParamState final : public OptimizerCloneableParamState<MuonParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(momentum_buffer)
};

/// Steps along the momentum with its singular values made about 1 (Jordan et al. 2024), which are
/// computed in bfloat16. For matrices: it refuses other parameters.
class Muon : public RuleOptimizer<MuonOptions, MuonParamState, muon_rule> {
 public:
  /// Throws ValueError for a parameter that is not a matrix.
  Muon(std::vector<OptimizerParamGroup> groups, MuonOptions defaults = {});
  Muon(std::vector<Tensor> params, MuonOptions defaults = {})
      : Muon(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
             std::move(defaults)) {}
};

}  // namespace taeda::inline v0_2::optim
