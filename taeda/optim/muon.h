// Muon.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule muon_rule;

/// Options of Muon; a number out of its range is a ValueError.
struct MuonConfig {
  using Coefficients = std::tuple<double, double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-3};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0.1};
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  Setting<double> momentum{usual, 0.95};
  /// Whether steps look ahead along the momentum (Nesterov).
  Setting<bool> nesterov{usual, true};
  /// The three coefficients of the polynomial that brings singular values near 1; the defaults are
  /// the authors'.
  Setting<Coefficients> ns_coefficients{usual, 3.4445, -4.775, 2.0315};
  /// What keeps divisors from 0, a number.
  Setting<double> eps{usual, 1e-7};
  /// How many times the polynomial is applied, at least 0 and below 100; 5 by default.
  Setting<int64_t> ns_steps{usual, 5};
  /// How the rate follows from a matrix' shape: "original" (by default), "match_rms_adamw" or
  /// "spectral_unclamped".
  Setting<std::optional<std::string>> adjust_lr_fn{usual};
};

/// The same for programs written for libtorch.
class MuonOptions : public RuleOptions<MuonOptions, MuonConfig, muon_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr)
  TAEDA_OPTION(weight_decay)
  TAEDA_OPTION(momentum)
  TAEDA_OPTION(nesterov) TAEDA_OPTION(ns_coefficients) TAEDA_OPTION(eps) TAEDA_OPTION(ns_steps)
      TAEDA_OPTION(adjust_lr_fn)
};

/// State of Muon for a parameter: the count of steps and a tensor of the parameter's shape.
TAEDA_PARAM_STATE(MuonParamState, momentum_buffer);

/// Steps along the momentum with its singular values made about 1 (Jordan et al. 2024), which are
/// computed in bfloat16. For matrices: it refuses other parameters.
class Muon : public RuleOptimizer<MuonOptions, MuonParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
