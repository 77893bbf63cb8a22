// Distances and similarities.
#pragma once

#include "taeda/nn/functional/distance.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

/// x1 . x2 / (|x1| |x2|) along a dimension.
class CosineSimilarityImpl
    : public detail::OptionsModule<CosineSimilarityOptions, CosineSimilarityImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& x1, const Tensor& x2) {
    return functional::cosine_similarity(x1, x2, options);
  }
};
TAEDA_MODULE(CosineSimilarity);

/// |x1 - x2 + eps|_p along the last dimension.
class PairwiseDistanceImpl
    : public detail::OptionsModule<PairwiseDistanceOptions, PairwiseDistanceImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& x1, const Tensor& x2) {
    return functional::pairwise_distance(x1, x2, options);
  }
};
TAEDA_MODULE(PairwiseDistance);

}  // namespace taeda::inline v0_2::nn
