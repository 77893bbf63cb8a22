// The network that learns Fashion-MNIST.
#pragma once

#include "../common.h"

namespace seeds {

struct NetworkImpl : nn::Cloneable<NetworkImpl> {
  NetworkImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(1, 6, 5));
    conv2 = register_module("conv2", nn::Conv2d(6, 12, 5));
    fc1 = register_module("fc1", nn::Linear(12 * 4 * 4, 120));
    fc2 = register_module("fc2", nn::Linear(120, 60));
    out = register_module("out", nn::Linear(60, 10));
  }
  Tensor forward(Tensor t) {
    t = max_pool2d(relu(conv1(t)), 2, 2);
    t = max_pool2d(relu(conv2(t)), 2, 2);
    t = relu(fc1(t.reshape({-1, 12 * 4 * 4})));
    return out(relu(fc2(t)));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(Network);

}  // namespace seeds
