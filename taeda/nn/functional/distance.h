// Distances and similarities as functions, and their options. Formulas: ops/nn/loss.h.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/selection.h"

namespace taeda::inline v0_2::nn {

/// Of module CosineSimilarity.
struct CosineSimilarityOptions {
  /// The dimension of the vectors; negative from the end.
  Option<int64_t> dim = 1;
  /// The least product of lengths that is divided by.
  Option<double> eps = 1e-8;
};

/// Of module PairwiseDistance.
struct PairwiseDistanceOptions {
  /// The norm of differences that is the distance.
  Option<double> p = 2;
  /// What is added to differences.
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
