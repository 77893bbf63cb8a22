// Losses of a small network under every optimizer, in the table that Python's tests read, and rates
// of schedules and averages (tests/golden/optim_curves.py), against PyTorch's numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/optim/golden.h"

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

MATCHER_P(NearlyEqual, tolerance, "") {
  const double got = std::get<0>(arg), wanted = std::get<1>(arg);
  return std::abs(got - wanted) <= tolerance * (std::abs(wanted) + 1e-3);
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

/// A line of the table: "Adam(lr=0.1, betas=(0.8, 0.9))": [0.8, 0.7, ...].
struct Row {
  std::string name;
  std::map<std::string, std::vector<std::string>> options;
  std::vector<double> losses;
};

Row row_of(const std::string& line) {
  std::smatch m;
  const std::regex call(R"-("(\w+)\((.*)\)": \[(.*)\].*)-");
  EXPECT_TRUE(std::regex_match(line, m, call)) << line;
  Row row{m[1], {}, {}};
  const std::string options = m[2], losses = m[3];
  const std::regex option(R"-((\w+)=(?:\(([^)]*)\)|([^,]+)))-"), value("[^, ']+");
  for (std::sregex_iterator o(options.begin(), options.end(), option), end; o != end; ++o) {
    const std::string text = (*o)[2].str() + (*o)[3].str();
    for (std::sregex_iterator v(text.begin(), text.end(), value); v != end; ++v)
      row.options[(*o)[1]].push_back(v->str());
  }
  for (std::sregex_iterator v(losses.begin(), losses.end(), value), end; v != end; ++v)
    row.losses.push_back(std::stod(v->str()));
  return row;
}

double number_of(const std::string& text) {
  const std::map<std::string, double> words = {{"True", 1},
                                               {"False", 0},
                                               {"strong_wolfe", 1},
                                               {"match_rms_adamw", 1},
                                               {"spectral_unclamped", 2}};
  const auto found = words.find(text);
  return found == words.end() ? std::stod(text) : found->second;
}

/// The option of a number, and its place there.
std::pair<std::string, size_t> option_of(const std::string& optimizer, const std::string& number) {
  if (number == "strong_wolfe") return {"line_search_fn", 0};
  if (const Rule* rule = find_rule(optimizer))
    for (const RuleField& field : rule->fields)
      if (number == field.name) return {field.option, static_cast<size_t>(std::max(field.part, 0))};
  return {number, 0};
}

/// Sets the options; false for one that the class has not.
bool set_options(const Row& row, Optimizer& optimizer) {
  std::set<std::string> set;
  OptimizerOptions& options = optimizer.param_groups()[0].options();
  options.visit([&](const char* name, double value) {
    const auto [option, place] = option_of(row.name, name);
    const auto given = row.options.find(option);
    if (given == row.options.end()) return value;
    set.insert(option);
    return number_of(given->second.at(place));
  });
  options.check();
  return set.size() == row.options.size();
}

TEST(Curves, OfOptimizers) {
  std::ifstream file(TAEDA_SOURCE_DIR "/python/tests/golden/optim.json");
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "{\"curves\": {");
  std::set<std::string> seen, left_out;
  for (bool more = true; more && std::getline(file, line); more = !line.ends_with("},")) {
    const Row row = row_of(line);
    const Problem problem(row.name == "Muon");
    const Made optimizer = kOptimizers.at(row.name)(problem.params);
    seen.insert(row.name);
    if (!set_options(row, *optimizer)) {
      left_out.insert(line.substr(0, line.find(':')));
      continue;
    }
    // Numbers of a state are float32 in PyTorch; Muon computes in bfloat16.
    const bool single = row.name == "NAdam" || row.name == "ASGD" || row.name == "LBFGS";
    const double tolerance = row.name == "Muon" ? 1e-5 : single ? 1e-6 : 1e-9;
    EXPECT_THAT(losses_of(problem, *optimizer, row.losses.size()),
                testing::Pointwise(NearlyEqual(tolerance), row.losses))
        << line;
  }
  EXPECT_EQ(seen.size(), kOptimizers.size());
  EXPECT_THAT(left_out, testing::ElementsAre(
                            "\"Adagrad(lr=0.1, maximize=True)\"",
                            "\"Adam(lr=0.1, decoupled_weight_decay=True, weight_decay=0.1)\"",
                            "\"RMSprop(lr=0.01, maximize=True)\""));
}

/// The rate, and the momentum, before each step.
std::vector<double> rates_under(Optimizer& optimizer, LRScheduler& schedule, size_t steps) {
  std::vector<double> out;
  OptimizerParamGroup& group = optimizer.param_groups()[0];
  for (size_t i = 0; i < steps; ++i) {
    out.push_back(group.get_lr());
    out.push_back(*group.options().momentum_like());
    schedule.step();
  }
  return out;
}

template <class S, class... Args>
void expect_rates(const char* name, Args... args) {
  SGD optimizer({zeros({1}, requires_grad())}, SGDOptions(0.1).momentum(0.9));
  S schedule(optimizer, args...);
  const auto& golden = golden_cycles.at(name);
  EXPECT_THAT(rates_under(optimizer, schedule, golden.size() / 2),
              testing::Pointwise(NearlyEqual(1e-10), golden))
      << name;
}

TEST(Curves, OfSchedules) {
  expect_rates<ConstantLR>("constant", 0.25, 7);
  expect_rates<PolynomialLR>("polynomial", 12, 1.5);
  expect_rates<MultiplicativeLR>("multiplicative", MultiplicativeLR::Function([](int64_t e) {
                                   return 1 - 0.01 * static_cast<double>(e);
                                 }));
  expect_rates<CosineAnnealingWarmRestarts>("restarts", 6, 1, 0.01);
  expect_rates<CosineAnnealingWarmRestarts>("longer_restarts", 4, 2);
  using Options = CyclicLROptions;
  expect_rates<CyclicLR>("cyclic", Options{.base_lr = 0.01, .max_lr = 0.2, .step_size_up = 4});
  expect_rates<CyclicLR>("cyclic_halved", Options{.base_lr = 0.01,
                                                  .max_lr = 0.2,
                                                  .step_size_up = 4,
                                                  .step_size_down = 6,
                                                  .mode = Options::triangular2});
  expect_rates<CyclicLR>("cyclic_exp", Options{.base_lr = 0.01,
                                               .max_lr = 0.2,
                                               .step_size_up = 3,
                                               .mode = Options::exp_range,
                                               .gamma = 0.95});
  expect_rates<SWALR>("swa", 0.01, 8);
  expect_rates<SWALR>("swa_linear", 0.01, 8, /*cosine=*/false);
}

TEST(Curves, OfACycleThatMovesBeta1) {
  Adam optimizer({zeros({1}, requires_grad())}, AdamOptions(0.1));
  CyclicLR schedule(optimizer, {.base_lr = 0.01, .max_lr = 0.2, .step_size_up = 4});
  const auto& golden = golden_cycles.at("cyclic_adam");
  EXPECT_THAT(rates_under(optimizer, schedule, golden.size() / 2),
              testing::Pointwise(NearlyEqual(1e-10), golden));
}

TEST(Curves, OfAverages) {
  const auto expect = [](const char* name, bool ema) {
    std::vector<Tensor> params;
    for (const int64_t n : {6, 2})
      params.push_back(arange(n).to(kDouble).mul(0.25).sub(static_cast<double>(params.size())));
    AveragedParameters averaged =
        ema ? AveragedParameters::ema(params, 0.9) : AveragedParameters(params);
    std::vector<double> sums;
    for (int step = 0; step < 5; ++step) {
      for (Tensor& p : params) p.add_(0.5 * (step + 1) * (step + 1));
      averaged.update();
      double sum = 0;
      for (const Tensor& t : averaged.averages()) sum += t.sum().item<double>();
      sums.push_back(sum);
    }
    EXPECT_THAT(sums, testing::Pointwise(NearlyEqual(1e-10), golden_averages.at(name))) << name;
  };
  expect("swa", false);
  expect("ema", true);
}

}  // namespace
}  // namespace taeda::optim
