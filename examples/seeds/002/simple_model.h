// The model of the programs of this folder: one linear layer.
#pragma once

#include "../common.h"

namespace seeds {

struct SimpleModelImpl : nn::Cloneable<SimpleModelImpl> {
  SimpleModelImpl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(10, 10)); }
  Tensor forward(const Tensor& x) { return fc(x); }

  nn::Linear fc{nullptr};
};
TAEDA_MODULE(SimpleModel);

}  // namespace seeds
