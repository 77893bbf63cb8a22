// Rules and the classes that are their faces: what one knows of the other.
#include "taeda/optim/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/device/graph.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/composed.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule_step.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;

/// Whether a class says its options in the order and with the defaults of its rule, but for those
/// at the end that Python alone has.
void expect_fields(const char* name, OptimizerOptions&& options, size_t more = 0) {
  const Rule* rule = find_rule(name);
  ASSERT_NE(rule, nullptr) << name;
  size_t i = 0;
  options.visit([&](const char* field, double value) {
    EXPECT_LT(i, rule->fields.size());
    EXPECT_STREQ(field, rule->fields[i].name) << name;
    EXPECT_EQ(value, rule->fields[i++].fallback) << name << " " << field;
    return value;
  });
  EXPECT_EQ(i + more, rule->fields.size()) << name;
  double values[Rule::kMostFields];
  read_values(*rule, options, values);
  EXPECT_EQ(wrong_field(*rule, values), nullptr) << name;
}

TEST(Rules, HaveTheFieldsOfTheirClasses) {
  expect_fields("SGD", SGDOptions());
  expect_fields("Adam", AdamOptions(), 1);  // whether the decay is decoupled
  expect_fields("AdamW", AdamWOptions(), 1);
  expect_fields("RMSprop", RMSpropOptions(), 1);  // maximize
  expect_fields("Adagrad", AdagradOptions(), 1);
  expect_fields("Adamax", AdamaxOptions());
  expect_fields("NAdam", NAdamOptions());
  expect_fields("RAdam", RAdamOptions());
  expect_fields("Adadelta", AdadeltaOptions());
  expect_fields("Rprop", RpropOptions());
  expect_fields("ASGD", ASGDOptions());
  expect_fields("Lion", LionOptions());
  expect_fields("AdEMAMix", AdEMAMixOptions());
  expect_fields("Adafactor", AdafactorOptions());
  expect_fields("Muon", MuonOptions());
  expect_fields("SparseAdam", SparseAdamOptions());
  expect_fields("LBFGS", LBFGSOptions(), 1);
  EXPECT_EQ(find_rule("Adam2"), nullptr);
}

TEST(Rules, SeeEachOptionUnderItsName) {
  const auto expect = [](const char* name, const OptimizerOptions& options, const char* field) {
    const Rule* rule = find_rule(name);
    double values[Rule::kMostFields];
    read_values(*rule, options, values);
    for (size_t i = 0; i < rule->fields.size(); ++i)
      EXPECT_EQ(values[i] != rule->fields[i].fallback, field == std::string(rule->fields[i].name))
          << name << " " << field << " is seen as " << rule->fields[i].name;
  };
  expect("SGD", SGDOptions(1), "lr");
  expect("SGD", SGDOptions(1e-3).momentum(0.5), "momentum");
  expect("SGD", SGDOptions(1e-3).dampening(0.5), "dampening");
  expect("SGD", SGDOptions(1e-3).weight_decay(0.5), "weight_decay");
  expect("SGD", SGDOptions(1e-3).nesterov(true), "nesterov");
  expect("SGD", SGDOptions(1e-3).maximize(true), "maximize");
  expect("Adam", AdamOptions().betas({0.9, 0.5}), "beta2");
  expect("Adam", AdamOptions().amsgrad(true), "amsgrad");
  expect("AdamW", AdamWOptions().maximize(true), "maximize");
  expect("RMSprop", RMSpropOptions().momentum(0.5), "momentum");
  expect("RMSprop", RMSpropOptions().centered(true), "centered");
  expect("Adagrad", AdagradOptions().lr_decay(0.5), "lr_decay");
  expect("Adagrad", AdagradOptions().initial_accumulator_value(2), "initial_accumulator_value");
  expect("Adamax", AdamaxOptions().maximize(true), "maximize");
  expect("NAdam", NAdamOptions().momentum_decay(0.5), "momentum_decay");
  expect("NAdam", NAdamOptions().decoupled_weight_decay(true), "decoupled_weight_decay");
  expect("RAdam", RAdamOptions().decoupled_weight_decay(true), "decoupled_weight_decay");
  expect("Adadelta", AdadeltaOptions().rho(0.5), "rho");
  expect("Rprop", RpropOptions().etas({0.5, 2}), "etaplus");
  expect("Rprop", RpropOptions().step_sizes({1e-6, 2}), "step_size_max");
  expect("ASGD", ASGDOptions().lambd(2), "lambd");
  expect("ASGD", ASGDOptions().t0(2), "t0");
  expect("Lion", LionOptions().weight_decay(0.5), "weight_decay");
  expect("AdEMAMix", AdEMAMixOptions().beta3_warmup(2), "beta3_warmup");
  expect("AdEMAMix", AdEMAMixOptions().alpha_warmup(2), "alpha_warmup");
  expect("Adafactor", AdafactorOptions().eps({0.5, 1e-3}), "eps1");
  expect("Adafactor", AdafactorOptions().eps({std::nullopt, 0.5}), "eps2");
  expect("Muon", MuonOptions().ns_coefficients({3.4445, 1, 2.0315}), "ns_coefficients.1");
  expect("Muon", MuonOptions().ns_steps(2), "ns_steps");
  expect("Muon", MuonOptions().adjust_lr_fn("match_rms_adamw"), "adjust_lr_fn");
  expect("SparseAdam", SparseAdamOptions().maximize(true), "maximize");
  expect("LBFGS", LBFGSOptions().max_eval(3), "max_eval");
  expect("LBFGS", LBFGSOptions().line_search_fn("strong_wolfe"), "strong_wolfe");
}

/// An optimizer of a program that is made of operations, and no rule of the library.
class OnlyUpdate : public ComposedOptimizer {
 public:
  explicit OnlyUpdate(std::vector<Tensor> params)
      : ComposedOptimizer(std::move(params), std::make_unique<LBFGSOptions>()) {}

 private:
  const char* kind() const override { return "NAdam"; }
  void update(const OptimizerOptions&, Update& u) override { u.param.mul_(0.5); }
};

TEST(Rules, LeaveOptimizersOfProgramsAlone) {
  const Tensor p = full({2}, 8.0).requires_grad_();
  p.mutable_grad() = ones({2});
  OnlyUpdate optimizer({p});
  optimizer.step();
  EXPECT_EQ(p.data_ptr<float>()[1], 4);
  EXPECT_EQ(optimizer.state(p).step, 1);
  DeviceGraph graph(kCPU);
  EXPECT_THAT(error_of([&] {
                GraphCapture capture(graph);
                optimizer.step();
              }),
              HasSubstr("NAdam.step() cannot be captured into a graph"));
}

TEST(Rules, AreRecordedForGradientsThatFlowThroughSteps) {
  const Tensor start = full({2}, 2.0, kDouble).requires_grad_(), param = start.clone();
  const Tensor grad = full({2}, 3.0, kDouble).requires_grad_();
  const double values[] = {0.1, 0, 0, 0.5, 0, 0};  // SGD with a decay
  Tensor states[ParamRef::kMaxStates];
  RuleStep step(sgd_rule, "SGD.step()", /*replaces=*/true);
  {
    const NoGradGuard no_grad;
    step.begin_group(values);
    step.add({.param = &param, .grad = &grad, .states = states, .recorded = true});
    EXPECT_EQ(param.data_ptr<double>()[0], 2);
    step.run();
  }
  EXPECT_DOUBLE_EQ(param.data_ptr<double>()[0], 2 - 0.1 * (3 + 0.5 * 2));
  param.sum().backward();
  EXPECT_DOUBLE_EQ(start.grad().data_ptr<double>()[1], 1 - 0.1 * 0.5);
  EXPECT_DOUBLE_EQ(grad.grad().data_ptr<double>()[1], -0.1);
}

TEST(Rules, AStepWhoseLastGradientIsElsewhereChangesNothing) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const Tensor first = full({3}, 8.0).requires_grad_(), last = full({3}, 8.0).requires_grad_();
  NAdam optimizer(std::vector<Tensor>{first, last}, NAdamOptions(0.1));
  for (const Tensor& p : {first, last}) p.mutable_grad() = ones({3});
  last.set_data(full({3}, 8.0).to(kSim));
  EXPECT_THAT(error_of([&] { optimizer.step(); }),
              HasSubstr("NAdam: expected the gradient of parameter 1 of group 0 to be Float [3] on "
                        "sim:0 like the parameter, but got Float [3] on cpu"));
  EXPECT_EQ(first.data_ptr<float>()[0], 8);
  EXPECT_EQ(optimizer.state(first).step, 0);
}

}  // namespace
}  // namespace taeda::optim
