// Networks and helpers of the tests of data parallelism. They run on four simulated devices.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "taeda/autograd/node.h"
#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/parallel/data_parallel.h"
#include "tests/error_of.h"

namespace taeda::nn {

inline Device sim_device(int i) { return Device(kSim, i); }

inline std::vector<Device> sim_devices(int n) {
  std::vector<Device> out;
  for (int i = 0; i < n; ++i) out.push_back(sim_device(i));
  return out;
}

/// Two layers with a parameter that is used twice.
struct NetImpl : Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    fc1 = register_module("fc1", Linear(6, 8));
    fc2 = register_module("fc2", Linear(8, 8));
    scale = register_parameter("scale", taeda::ones({8}));
  }
  Tensor forward(const Tensor& x) { return fc2((fc1(x) * scale * factor).tanh()) * scale; }

  Linear fc1{nullptr}, fc2{nullptr};
  Tensor scale;
  double factor = 1;
};
TAEDA_MODULE(Net);

/// A network on sim:0, the same every time.
inline Net make_net() {
  manual_seed(3);
  Net net;
  net->to(sim_device(0));
  return net;
}

inline Tensor batch_of(int64_t n, int64_t features = 6) {
  manual_seed(5);
  return taeda::randn({n, features}).to(sim_device(0));
}

/// Largest difference of two tensors, wherever they are.
inline double distance(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().cpu().to(kDouble), y = b.detach().cpu().to(kDouble);
  if (!(x.sizes() == y.sizes())) return INFINITY;
  return x.numel() == 0 ? 0 : (x - y).abs().max().item<double>();
}

inline std::vector<double> values(const Tensor& t) {
  const Tensor host = t.detach().cpu().to(kDouble).contiguous();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

/// Gradients of the parameters, moved out of them.
inline std::vector<Tensor> take_gradients(Module& module) {
  std::vector<Tensor> out;
  for (const Tensor& p : module.parameters()) {
    out.push_back(p.grad());
    p.mutable_grad().reset();
  }
  return out;
}

}  // namespace taeda::nn
