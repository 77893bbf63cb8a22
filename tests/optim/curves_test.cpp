// Losses of a small network under every optimizer, against PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/golden_table.h"

namespace taeda::optim {
namespace {

/// The numbers of the problem in python/tests/cases/optim.py.
Tensor spread(IntArrayRef sizes) {
  Tensor t = empty(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_ptr<double>()[i] = static_cast<double>(7 * i % 11 - 5) / 5;
  return t;
}

/// Two parameters, or the first alone, and their loss.
struct Problem {
  Tensor x = spread({8, 3}), y = spread({8, 4});
  std::vector<Tensor> params = {spread({4, 3}), spread({4})};

  explicit Problem(bool matrix_only) {
    if (matrix_only) params.pop_back();
    for (Tensor& p : params) p.requires_grad_();
  }
  Tensor loss() const {
    const Tensor product = matmul(x, params[0].t());
    return (tanh(params.size() > 1 ? product + params[1] : product) - y).square().mean();
  }
};

std::vector<double> losses_of(const Problem& problem, Optimizer& optimizer, size_t steps) {
  std::vector<double> losses;
  for (size_t i = 0; i < steps; ++i)
    losses.push_back(optimizer
                         .step([&] {
                           optimizer.zero_grad();
                           Tensor loss = problem.loss();
                           loss.backward();
                           return loss;
                         })
                         .item<double>());
  return losses;
}

using Made = std::unique_ptr<Optimizer>;
template <class O, class Options>
Made make(const std::vector<Tensor>& params) {
  return std::make_unique<O>(params, Options(1));
}
const std::map<std::string, Made (*)(const std::vector<Tensor>&)> kOptimizers = {
    {"SGD", make<SGD, SGDOptions>},
    {"Adam", make<Adam, AdamOptions>},
    {"AdamW", make<AdamW, AdamWOptions>},
    {"RMSprop", make<RMSprop, RMSpropOptions>},
    {"Adagrad", make<Adagrad, AdagradOptions>},
    {"Adamax", make<Adamax, AdamaxOptions>},
    {"NAdam", make<NAdam, NAdamOptions>},
    {"RAdam", make<RAdam, RAdamOptions>},
    {"Adadelta", make<Adadelta, AdadeltaOptions>},
    {"Rprop", make<Rprop, RpropOptions>},
    {"ASGD", make<ASGD, ASGDOptions>},
    {"Lion", make<Lion, LionOptions>},
    {"AdEMAMix", make<AdEMAMix, AdEMAMixOptions>},
    {"Adafactor", make<Adafactor, AdafactorOptions>},
    {"Muon", make<Muon, MuonOptions>},
    {"LBFGS", make<LBFGS, LBFGSOptions>}};

/// The option of a number, and its place there.
std::pair<std::string, size_t> option_of(const std::string& optimizer, const std::string& number) {
  if (const Rule* rule = find_rule(optimizer))
    for (const RuleField& field : rule->fields)
      if (number == field.name) return {field.option, static_cast<size_t>(std::max(field.part, 0))};
  return {number, 0};
}

/// Sets the options; false for one that the class has not.
bool set_options(const golden::Row& row, Optimizer& optimizer) {
  std::set<std::string> set;
  OptimizerOptions& options = optimizer.param_groups()[0].options();
  options.visit([&](const char* name, double value) {
    const auto [option, place] = option_of(row.name, name);
    const auto given = row.options.find(option);
    if (given == row.options.end()) return value;
    set.insert(option);
    return row.numbers(option).at(place);
  });
  options.check();
  return set.size() == row.options.size();
}

TEST(Curves, OfOptimizers) {
  std::set<std::string> seen, left_out;
  for (const golden::Row& row : golden::rows_of("optim.json", "curves")) {
    const Problem problem(row.name == "Muon");
    const Made optimizer = kOptimizers.at(row.name)(problem.params);
    seen.insert(row.name);
    if (!set_options(row, *optimizer)) {
      left_out.insert(row.text);
      continue;
    }
    // Numbers of a state are float32 in PyTorch; Muon computes in bfloat16.
    const bool single = row.name == "NAdam" || row.name == "ASGD" || row.name == "LBFGS";
    const double tolerance = row.name == "Muon" ? 1e-5 : single ? 1e-6 : 1e-9;
    EXPECT_THAT(losses_of(problem, *optimizer, row.values.size()),
                testing::Pointwise(golden::NearlyEqual(tolerance), row.values))
        << row.text;
  }
  EXPECT_EQ(seen.size(), kOptimizers.size());
  EXPECT_THAT(left_out,
              testing::ElementsAre("Adagrad(lr=0.1, maximize=True)",
                                   "Adam(lr=0.1, decoupled_weight_decay=True, weight_decay=0.1)",
                                   "RMSprop(lr=0.01, maximize=True)"));
}

}  // namespace
}  // namespace taeda::optim
