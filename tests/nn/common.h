// Helpers of the tests of nn.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "taeda/nn/module.h"

namespace taeda::nn::testing_helpers {

#include "golden.inc"

inline std::vector<double> to_doubles(const Tensor& t) {
  const Tensor c = t.detach().to(Device(kCPU), kDouble).contiguous();
  return {c.data_ptr<double>(), c.data_ptr<double>() + c.numel()};
}

/// All values of a module's state dict, in order.
inline std::vector<double> state_values(const Module& module) {
  std::vector<double> out;
  for (const auto& [name, tensor] : module.state_dict()) {
    const std::vector<double> values = to_doubles(tensor);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

/// The module prints as Python does.
template <class M>
void expect_print(const char* name, const M& module) {
  EXPECT_EQ(module->repr(), golden_prints.at(name)) << name;
}

/// The options with one field changed.
template <class Options, class Field, class Value>
Options with(Options options, Field Options::*field, const Value& value) {
  options.*field = value;
  return options;
}

inline auto near(const std::vector<double>& expected, double tolerance) {
  return ::testing::Pointwise(::testing::DoubleNear(tolerance), expected);
}

}  // namespace taeda::nn::testing_helpers
