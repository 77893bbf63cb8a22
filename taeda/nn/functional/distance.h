// Distances and similarities as functions, and their options. Formulas: ops/nn/loss.h.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/selection.h"

namespace taeda::inline v0_2::nn {

class CosineSimilarityOptions {
  TAEDA_ARG(int64_t, dim) = 1;
  TAEDA_ARG(double, eps) = 1e-8;
};

class PairwiseDistanceOptions {
  TAEDA_ARG(double, p) = 2;
  TAEDA_ARG(double, eps) = 1e-6;
  TAEDA_ARG(bool, keepdim) = false;
};

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
using taeda::cosine_similarity, taeda::pairwise_distance;

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o);
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o);
using taeda::pdist;

}  // namespace functional
}  // namespace taeda::nn
