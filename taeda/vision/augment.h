// Several changes of colours and places at once, chosen at random, of pictures of bytes:
// AutoAugment (arXiv:1805.09501), RandAugment (arXiv:1909.13719), TrivialAugmentWide
// (arXiv:2103.10158) and AugMix (arXiv:1912.02781).
#pragma once

#include "taeda/vision/transforms.h"

namespace taeda::inline v0_2::vision::transforms {

/// The data set for which the pairs of changes were found; ImageNet by default.
enum class AutoAugmentPolicy { kImageNet, kCifar10, kSvhn };

/// One of 25 pairs of changes that were found to help on a data set, each with its own probability
/// (Cubuk et al. 2019, arXiv:1805.09501); pictures are [..., C, H, W] and keep their size.
struct AutoAugment : Change {
  explicit AutoAugment(AutoAugmentPolicy policy = AutoAugmentPolicy::kImageNet,
                       Interpolated by = {});
};

/// Options of RandAugment: 2 changes of magnitude 9 of 31 by default.
struct RandAugmentOptions {
  int64_t num_ops = 2;
  int64_t magnitude = 9;
  int64_t num_magnitude_bins = 31;
  Interpolated by = {};
};
/// `num_ops` random changes, all of the strength `magnitude` out of `num_magnitude_bins`. Throws
/// ValueError for one beyond.
struct RandAugment : Change {
  explicit RandAugment(RandAugmentOptions options = {});
};

/// One random change of a random strength (Müller and Hutter 2021, arXiv:2103.10158); pictures are
/// [..., C, H, W] and keep their size.
struct TrivialAugmentWide : Change {
  explicit TrivialAugmentWide(int64_t num_magnitude_bins = 31, Interpolated by = {});
};

/// Options of AugMix: 3 chains of random length by default.
struct AugMixOptions {
  int64_t severity = 3;  ///< how strong changes are, from 1 to 10; 3 by default
  int64_t mixture_width = 3;
  int64_t chain_depth = -1;  ///< from 1 to 3 at random, unless it is positive
  double alpha = 1;
  bool all_ops = true;
  Interpolated by = {.mode = InterpolationMode::kBilinear};
};
/// A mixture, with random weights, of the picture and of what chains of changes make of it
/// (Hendrycks et al. 2020, arXiv:1912.02781); pictures are [..., C, H, W] and keep their size.
struct AugMix : Change {
  explicit AugMix(AugMixOptions options = {});
};

}  // namespace taeda::inline v0_2::vision::transforms
