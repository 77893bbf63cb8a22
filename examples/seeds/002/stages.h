// A model in two stages, and where they stand.
#pragma once

#include "../common.h"

namespace seeds {

struct Stage1Impl : nn::Cloneable<Stage1Impl> {
  Stage1Impl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(10, 10)); }
  Tensor forward(const Tensor& x) { return fc(x); }

  nn::Linear fc{nullptr};
};
TAEDA_MODULE(Stage1);

struct Stage2Impl : nn::Cloneable<Stage2Impl> {
  Stage2Impl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(10, 10)); }
  Tensor forward(const Tensor& x) { return fc(x); }

  nn::Linear fc{nullptr};
};
TAEDA_MODULE(Stage2);

/// The device behind the first, or the first where there is no other.
inline Device next_to(Device first) {
  const Device next(first.type(), first.index() + 1);
  return first.is_cpu() || next.index() >= device_count(first.type()) ? first : next;
}

}  // namespace seeds
