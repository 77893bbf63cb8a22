#include "taeda/models/lenet.h"

#include "taeda/base/error.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::models {

void LeNetImpl::reset() {
  conv1 = register_module("conv1", nn::Conv2d(channels_, 6, 5));
  conv2 = register_module("conv2", nn::Conv2d(6, 16, 5));
  fc1 = register_module("fc1", nn::Linear(16 * 5 * 5, 120));
  fc2 = register_module("fc2", nn::Linear(120, 84));
  fc3 = register_module("fc3", nn::Linear(84, num_classes_));
}

Tensor LeNetImpl::forward(const Tensor& images) {
  const bool small = images.dim() == 4 && images.size(2) == 28 && images.size(3) == 28;
  TAEDA_CHECK(small || (images.dim() == 4 && images.size(2) == 32 && images.size(3) == 32),
              "LeNet expects pictures of 28 x 28 or 32 x 32, got shape ", images.sizes());
  Tensor t = small ? nn::functional::pad(images, {2, 2, 2, 2}) : images;
  t = max_pool2d(relu(conv1(t)), 2);
  t = max_pool2d(relu(conv2(t)), 2);
  t = relu(fc1(t.flatten(1)));
  return fc3(relu(fc2(t)));
}

}  // namespace taeda::models
