// Lists of parameters, as the kernels of optimizers take them.
#pragma once

#include <vector>

#include "taeda/base/device.h"
#include "taeda/base/dtype.h"
#include "taeda/base/macros.h"

namespace taeda {

/// One parameter: addresses on the list's device, all with the same memory order and dtype.
struct ParamRef {
  char* param;
  const char* grad;
  char* state[3];  ///< what the slot says; unused ones are nullptr
  int64_t numel;
  double a = 0, b = 0;  ///< numbers that depend on the parameter's own step count
  /// In a graph, on the device and of the replay: a, b, the learning rate and the step count.
  const double* live = nullptr;

  TAEDA_HD double number_a() const { return live ? live[0] : a; }
  TAEDA_HD double number_b() const { return live ? live[1] : b; }
  /// The learning rate, which is `lr` outside of graphs.
  TAEDA_HD double rate(double lr) const { return live ? live[2] : lr; }
};

/// Parameters of one dtype on one device. A plain value, copyable into a queue.
struct ParamList {
  Device device;
  ScalarType dtype = kFloat;
  std::vector<ParamRef> items;
  /// In a graph with a gradient scaler: two numbers on the device. A step changes nothing where the
  /// first is not 0; the second says how many steps that came to, so that they do not count in a
  /// and b. Without: nullptr.
  const double* skip = nullptr;

  /// Moves every address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    const auto move = [delta](auto& p) { p = p ? p + delta : p; };
    for (ParamRef& r : items) {
      move(r.param);
      move(r.grad);
      for (char*& s : r.state) move(s);
      if (r.live) r.live += delta / static_cast<ptrdiff_t>(sizeof(double));
    }
    if (skip) skip += delta / static_cast<ptrdiff_t>(sizeof(double));
  }
};

}  // namespace taeda
