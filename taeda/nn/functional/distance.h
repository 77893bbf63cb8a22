// Distances and similarities as functions, and their options. Formulas: ops/nn/loss.h.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/selection.h"

namespace taeda::inline v0_2::nn {

/// Options of the module CosineSimilarity, whose two inputs broadcast and whose result lacks the
/// dimension `dim`.
struct CosineSimilarityOptions {
  /// The dimension of the vectors; negative from the end.
  Option<int64_t> dim = 1;
  /// The least number that either vector's length counts as, so that nothing is divided by 0; 1e-8
  /// by default.
  Option<double> eps = 1e-8;
};

/// Options of the module PairwiseDistance: inputs [N, D] or [D], which broadcast, give [N] or one
/// number.
struct PairwiseDistanceOptions {
  /// The exponent p of the norm that is the distance, (sum |a - b|^p)^(1/p); 2 by default.
  Option<double> p = 2;
  /// The number that is added to each difference, so that the norm has a gradient at 0; 1e-6 by
  /// default.
  Option<double> eps = 1e-6;
  /// Whether the vectors' dimension stays, with size 1.
  Option<bool> keepdim = false;
};

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
using taeda::cosine_similarity, taeda::pairwise_distance;

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o);
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o);
using taeda::pdist;

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
