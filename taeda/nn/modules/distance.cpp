#include "taeda/nn/modules/distance.h"

#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn {

void CosineSimilarityImpl::settings(Settings& out) const {
  out.of(typeid(CosineSimilarityImpl)).libtorch("dim", options.dim).libtorch("eps", options.eps);
}

void PairwiseDistanceImpl::settings(Settings& out) const {
  out.of(typeid(PairwiseDistanceImpl)).libtorch("p", options.p);
  out.libtorch("eps", options.eps).libtorch("keepdim", options.keepdim);
}

}  // namespace taeda::inline v0_2::nn
