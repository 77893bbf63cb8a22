// Rules and the classes that are their faces: what one knows of the other.
#include "taeda/optim/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule_step.h"
#include "tests/error_of.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;

/// Whether a class says its options in the order and with the defaults of its rule.
template <class Options>
void expect_fields(Options options, size_t more = 0) {
  const Rule* rule = rule_of(options);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(find_rule(rule->name), rule);
  size_t i = 0;
  options.visit([&](const char* name, double value) {
    EXPECT_LT(i, rule->fields.size());
    EXPECT_STREQ(name, rule->fields[i].name) << rule->name;
    EXPECT_EQ(value, rule->fields[i++].fallback) << rule->name << " " << name;
    return value;
  });
  EXPECT_EQ(i + more, rule->fields.size()) << rule->name;
  double values[Rule::kMostFields];
  read_values(*rule, options, values);
  EXPECT_EQ(wrong_field(*rule, values), nullptr) << rule->name;
}

TEST(Rules, HaveTheFieldsOfTheirClasses) {
  expect_fields(SGDOptions(1e-3));
  expect_fields(AdamOptions(), 1);  // whether the decay is decoupled
  expect_fields(AdamWOptions(), 1);
  expect_fields(RMSpropOptions(), 1);  // maximize
  expect_fields(AdagradOptions(), 1);
  expect_fields(AdamaxOptions());
  expect_fields(NAdamOptions());
  expect_fields(RAdamOptions());
  expect_fields(AdadeltaOptions());
  expect_fields(RpropOptions());
  expect_fields(ASGDOptions());
  expect_fields(LionOptions());
  expect_fields(AdEMAMixOptions());
  expect_fields(AdafactorOptions());
  expect_fields(MuonOptions());
  expect_fields(SparseAdamOptions());
}

TEST(Rules, OfOtherNamesAndOptionsAreNone) {
  EXPECT_EQ(find_rule("Adam2"), nullptr);
  EXPECT_EQ(rule_of(LBFGSOptions()), nullptr);
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
