// Changes of colour, as torchvision.transforms.functional: float pictures (3 or 1, H, W) from 0
// to 1.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision::transforms {

/// (1, H, W): 0.2989 R + 0.587 G + 0.114 B; a picture of one channel as it is.
Tensor rgb_to_grayscale(const Tensor& image);
/// `factor` 0 gives black, 1 the picture.
Tensor adjust_brightness(const Tensor& image, double factor);
/// `factor` 0 gives the mean of the grey picture everywhere.
Tensor adjust_contrast(const Tensor& image, double factor);
/// `factor` 0 gives the grey picture.
Tensor adjust_saturation(const Tensor& image, double factor);
/// Moves the hue by `shift` of the circle of colours, -0.5 to 0.5 (through HSV).
Tensor adjust_hue(const Tensor& image, double shift);

}  // namespace taeda::vision::transforms
