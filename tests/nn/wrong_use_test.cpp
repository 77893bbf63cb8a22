// Modules, optimizers, schedulers and hooks in the hands of somebody who errs: an error that says
// what was given, at the call that gave it.
#include <gmock/gmock.h>

#include <cmath>

#include "taeda/autograd/function.h"
#include "taeda/log/summary_writer.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/optim.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

using testing::HasSubstr;
using Schedulers = std::vector<std::shared_ptr<optim::LRScheduler>>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Node : nn::Module {};

TEST(WrongUse, AModuleIsNoPartOfItself) {
  const auto a = std::make_shared<Node>(), b = std::make_shared<Node>();
  EXPECT_THAT(error_of([&] { a->register_module("x", a); }),
              HasSubstr("Submodule 'x' of Node is that module itself"));
  a->register_module("b", b);
  EXPECT_THAT(error_of([&] { b->register_module("y", a); }),
              HasSubstr("Submodule 'y' of Node contains that module"));
  EXPECT_THAT(error_of([&] { a->replace_module("b", a); }), HasSubstr("is that module itself"));
  EXPECT_EQ(a->modules().size(), 2u);
}

TEST(WrongUse, EmptyHandles) {
  EXPECT_THAT(error_of([] { nn::AnyModule().clone(); }),
              HasSubstr("Cannot call clone() on an empty AnyModule"));
  const char* none = nullptr;
  EXPECT_THAT(error_of([&] { ConvPadding padding(none); }), HasSubstr("a null pointer"));
}

TEST(WrongUse, HooksThatCannotBeCalled) {
  const std::string words = ": a hook must be something to call, but got an empty function";
  const Tensor p = rand({2}).requires_grad_();
  nn::Linear layer(2, 2);
  EXPECT_EQ(error_of([&] { p.register_hook(std::function<Tensor(const Tensor&)>()); }),
            "register_hook" + words);
  EXPECT_EQ(error_of([&] { nn::register_forward_hook(*layer, nullptr); }),
            "register_forward_hook" + words);
  EXPECT_EQ(error_of([&] { nn::register_forward_pre_hook(*layer, nullptr); }),
            "register_forward_pre_hook" + words);
}

TEST(WrongUse, SchedulesWithoutNumbers) {
  optim::SGD sgd({rand({2}).requires_grad_()}, 0.1);
  EXPECT_THAT(error_of([&] { optim::StepLR s(sgd, 1, kNaN); }), HasSubstr("gamma, but got nan"));
  EXPECT_THAT(error_of([&] { optim::ExponentialLR s(sgd, kNaN); }), HasSubstr("got nan"));
  EXPECT_THAT(error_of([&] { optim::MultiStepLR s(sgd, {1}, kNaN); }), HasSubstr("got nan"));
  EXPECT_THAT(error_of([&] { optim::OneCycleLR s(sgd, kNaN, 10); }), HasSubstr("max_lr"));
  EXPECT_THAT(error_of([&] { optim::LambdaLR s(sgd, optim::LambdaLR::Function()); }),
              HasSubstr("lr_lambda, but got an empty one"));
  EXPECT_THAT(error_of([&] { optim::SequentialLR s(sgd, Schedulers{nullptr}, {}); }),
              HasSubstr("no scheduler at index 0"));
  optim::LambdaLR late(sgd, [](int64_t epoch) { return epoch == 2 ? kNaN : 1; });
  late.step();
  EXPECT_THAT(error_of([&] { late.step(); }), HasSubstr("of group 0 in epoch 2 is not a number"));
  EXPECT_EQ(error_of([&] { sgd.param_groups()[0].set_lr(kNaN); }), "Invalid learning rate: nan");
  EXPECT_DOUBLE_EQ(sgd.param_groups()[0].get_lr(), 0.1);
}

TEST(WrongUse, ClippingWithoutNumbers) {
  const Tensor p = rand({2}).requires_grad_();
  p.mutable_grad() = ones({2});
  EXPECT_THAT(error_of([&] { nn::utils::clip_grad_norm_({p}, kNaN); }),
              HasSubstr("at least 0, but got nan"));
  EXPECT_THAT(error_of([&] { nn::utils::clip_grad_norm_({p}, 1, kNaN); }),
              HasSubstr("a number as norm_type"));
  EXPECT_THAT(error_of([&] { nn::utils::clip_grad_value_({p}, kNaN); }), HasSubstr("got nan"));
  EXPECT_EQ(p.grad().sum().item<float>(), 2);
  EXPECT_THAT(error_of([&] { hardtanh(p, 1, 0); }),
              HasSubstr("min_val cannot be greater than max_val, got 1 and 0"));
}

TEST(WrongUse, AWriterThatWasMovedFrom) {
  if (!logging::has_tensorboard()) GTEST_SKIP() << "built without Protocol Buffers";
  const TemporaryFolder folder;
  logging::SummaryWriter writer(folder / "log");
  const logging::SummaryWriter other = std::move(writer);
  EXPECT_THAT(error_of([&] { writer.add_scalar("loss", 1, 1); }), HasSubstr("was moved from"));
  EXPECT_THAT(error_of([&] { writer.flush(); }), HasSubstr("was moved from"));
}

}  // namespace
}  // namespace taeda
