// Optimizers whose parameters move to a device, or whose step fails half-way there.
#include <gmock/gmock.h>

#include "common.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"

namespace taeda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::unique_ptr<optim::Optimizer>> all_optimizers(const std::vector<Tensor>& params) {
  std::vector<std::unique_ptr<optim::Optimizer>> out;
  out.push_back(std::make_unique<optim::SGD>(params, optim::SGDOptions(0.1).momentum(0.9)));
  out.push_back(std::make_unique<optim::Adam>(params, optim::AdamOptions(0.1).amsgrad(true)));
  out.push_back(std::make_unique<optim::AdamW>(params, optim::AdamWOptions(0.1)));
  out.push_back(std::make_unique<optim::RMSprop>(
      params, optim::RMSpropOptions(0.1).centered(true).momentum(0.5)));
  out.push_back(std::make_unique<optim::Adagrad>(params, optim::AdagradOptions(0.1)));
  return out;
}

void set_gradients(const std::vector<Tensor>& params) {
  for (const Tensor& p : params) p.mutable_grad() = full_like(p, 0.5);
}

class OptimizerState : public OnDevice<> {};

TEST_F(OptimizerState, StaysWhereItWasWhenParametersMove) {
  const size_t kinds = all_optimizers({ones({1}).requires_grad_()}).size();
  for (size_t kind = 0; kind < kinds; ++kind) {
    nn::Linear model(8, 8);
    const std::vector<Tensor> params = model->parameters();
    const auto optimizer = std::move(all_optimizers(params)[kind]);
    set_gradients(params);
    optimizer->step();
    model->to(device_);
    set_gradients(params);
    const std::vector<double> before = values(params[0]);
    EXPECT_THAT(error_of([&] { optimizer->step(); }),
                AllOf(HasSubstr("state "), HasSubstr(" of parameter 0 of group 0"),
                      HasSubstr(" on " + device_.str()), HasSubstr(" on cpu")));
    EXPECT_EQ(values(params[0]), before);
    EXPECT_EQ(optimizer->state(params[0]).step, 1);
    optimizer->load_state_dict(optimizer->state_dict());
    optimizer->step();
    EXPECT_EQ(optimizer->state(params[0]).step, 2);
    EXPECT_EQ(optimizer->state(params[0]).tensors[0].device(), device_);
    model->to(kCPU);
    set_gradients(params);
    EXPECT_THAT(error_of([&] { optimizer->step(); }), HasSubstr("of parameter 0 of group 0"));
  }
}

TEST_F(OptimizerState, AGradientElsewhereIsNamed) {
  const Tensor a = ones({3}, device_).requires_grad_(), b = ones({3}, device_).requires_grad_();
  optim::SGD optimizer(std::vector<Tensor>{a, b}, 0.5);
  set_gradients({a, b});
  b.mutable_grad() = ones({3});
  EXPECT_THAT(error_of([&] { optimizer.step(); }),
              HasSubstr("SGD: expected the gradient of parameter 1 of group 0 to be"));
  EXPECT_EQ(values(a)[0], 1) << "the first parameter was not updated either";
}

TEST_F(OptimizerState, MemoryThatRunsOutHalfWayChangesNothing) {
  if (!device_.is_sim()) GTEST_SKIP() << "fails an allocation on demand";
  const size_t kinds = all_optimizers({ones({1}).requires_grad_()}).size();
  // Too large for the allocator's blocks of small tensors: every state is an allocation.
  const auto make = [&] {
    manual_seed(3);
    std::vector<Tensor> out;
    for (int i = 0; i < 3; ++i) out.push_back(rand({3 << 18}, device_).requires_grad_());
    return out;
  };
  for (size_t kind = 0; kind < kinds; ++kind) {
    const std::vector<Tensor> params = make(), untouched = make();
    const auto optimizer = std::move(all_optimizers(params)[kind]);
    const auto straight = std::move(all_optimizers(untouched)[kind]);
    set_gradients(params);
    set_gradients(untouched);
    const std::vector<double> before = values(params[0]);
    allocator::empty_cache(device_);
    sim::fail_allocation(device_, 2);
    EXPECT_THROW(optimizer->step(), OutOfMemoryError);
    for (const Tensor& p : params) {
      EXPECT_EQ(optimizer->state(p).step, 0);
      EXPECT_FALSE(optimizer->state(p).tensors[0].defined());
    }
    EXPECT_EQ(values(params[0]), before);
    for (int i = 0; i < 2; ++i) {
      optimizer->step();
      straight->step();
    }
    for (size_t i = 0; i < params.size(); ++i) EXPECT_EQ(values(params[i]), values(untouched[i]));
  }
}

}  // namespace
}  // namespace taeda
