// Steps and loads while memory runs out, at each allocation that they make: a step that failed did
// not happen, a load changes everything or nothing.
#include "tests/failing_memory.h"

#include <concepts>
#include <cstring>
#include <functional>
#include <memory>

#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {
namespace {

using Made = std::unique_ptr<optim::Optimizer>;
struct Maker {
  std::function<Made(const std::vector<Tensor>&)> make;
  bool sparse = false;     ///< gradients of some rows
  bool one_dtype = false;  ///< of all parameters
};

template <class Optimizer, class Options>
Maker with(Options options, bool sparse = false) {
  return {[options](const std::vector<Tensor>& p) -> Made {
            return std::make_unique<Optimizer>(p, options);
          },
          sparse, std::same_as<Optimizer, optim::LBFGS>};
}

std::vector<Maker> makers() {
  using namespace optim;
  constexpr bool kSparse = true;
  return {
      with<SGD>(SGDOptions(0.1).momentum(0.9)),
      with<Adam>(AdamOptions(0.1).amsgrad(true)),
      with<AdamW>(AdamWOptions(0.1)),
      with<RMSprop>(RMSpropOptions(0.1).centered(true).momentum(0.5)),
      with<Adagrad>(AdagradOptions(0.1)),
      with<Adamax>(AdamaxOptions(0.1)),
      with<NAdam>(NAdamOptions(0.1)),
      with<RAdam>(RAdamOptions(0.1)),
      with<Adadelta>(AdadeltaOptions(0.1)),
      with<Rprop>(RpropOptions(0.1)),
      with<ASGD>(ASGDOptions(0.1)),
      with<Adafactor>(AdafactorOptions(0.1)),
      with<Lion>(LionOptions(0.1)),
      with<AdEMAMix>(AdEMAMixOptions(0.1)),
      with<Muon>(MuonOptions(0.1)),
      with<LBFGS>(LBFGSOptions(0.1).max_iter(3)),
      with<LBFGS>(LBFGSOptions(0.1).max_iter(2).line_search_fn("strong_wolfe")),
      with<SparseAdam>(SparseAdamOptions(0.1), kSparse),
      with<SGD>(SGDOptions(0.1), kSparse),
      with<SGD>(SGDOptions(0.1).momentum(0.9), kSparse),
      with<Adagrad>(AdagradOptions(0.1), kSparse),
  };
}

/// A gradient of sixteen rows.
Tensor some_rows(const Tensor& param, double value) {
  const Tensor rows = arange(2, 18, TensorOptions(kLong).device(param.device())).view({1, 16});
  const Tensor values = full({16, param.size(1)}, value, param.detach().options());
  return sparse_coo_tensor(rows, values, param.sizes());
}

/// An optimizer, and parameters that are larger than what a storage keeps in itself: one of another
/// dtype, which makes a second launch, and one whose elements lie apart.
struct Subject {
  Subject(const Maker& maker, Device device) {
    manual_seed(3);
    params.push_back(rand({20, 15}, device));
    const auto other = TensorOptions(maker.one_dtype ? kFloat : kDouble).device(device);
    params.push_back(rand({20, 15}, other));
    params.push_back(rand({20, 30}, device).narrow(1, 5, 15));
    params.push_back(rand({20, 15}, device));
    for (size_t i = 0; i < params.size(); ++i) {
      params[i].requires_grad_();
      const double value = 0.5 + static_cast<double>(i);
      params[i].mutable_grad() = maker.sparse
                                     ? some_rows(params[i], value)
                                     : full(params[i].sizes(), value, params[i].detach().options());
    }
    optimizer = maker.make(params);
  }
  /// LBFGS asks for loss and gradients itself.
  void step() {
    const bool asks = dynamic_cast<optim::LBFGS*>(optimizer.get()) != nullptr;
    optimizer->step(asks ? [this] { return loss(); } : optim::Optimizer::LossClosure());
  }
  Tensor loss() {
    Tensor sum = zeros({}, params[0].detach().options());
    for (const Tensor& p : params) {
      const Tensor value = p.detach();
      p.mutable_grad() = value * 2;
      sum = sum + value.square().sum();
    }
    return sum;
  }
  bool equals(const Subject& other) const {
    for (size_t i = 0; i < params.size(); ++i) {
      const Tensor a = params[i].detach().cpu().contiguous();
      const Tensor b = other.params[i].detach().cpu().contiguous();
      if (std::memcmp(a.data_ptr(), b.data_ptr(), static_cast<size_t>(a.nbytes())) != 0)
        return false;
    }
    return true;
  }
  std::vector<Tensor> params;
  Made optimizer;
};

class FailingMemoryOfOptimizers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device_.type() == kSim && device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  }
  const Device device_{GetParam()};
};

TEST_P(FailingMemoryOfOptimizers, AStepThatFailedDidNotHappen) {
  for (const Maker& maker : makers()) {
    SCOPED_TRACE(maker.make({rand({2, 2}).requires_grad_()})->state_dict().kind +
                 (maker.sparse ? ", sparse" : ""));
    Subject disturbed(maker, device_), straight(maker, device_);
    const auto step = [&] { disturbed.step(); };
    const auto unchanged = [&] { EXPECT_TRUE(disturbed.equals(straight)); };
    EXPECT_GT(fail_each<FailingAllocation>(step, unchanged, device_), 0);
    straight.step();
    unchanged();
    fail_each<FailingBlock>(step, unchanged);
    straight.step();
    unchanged();
    disturbed.step();
    straight.step();
    EXPECT_TRUE(disturbed.equals(straight)) << "a step was counted twice";
  }
}

/// What was not loaded goes on as if nothing had been tried.
void expect_after_one_step(const Subject& target, const Maker& maker, Device device) {
  Subject twin(maker, device), other(maker, device), one(maker, device);
  twin.step();
  one.step();
  other.optimizer->load_state_dict(target.optimizer->state_dict());
  {
    NoGradGuard guard;
    for (size_t i = 0; i < other.params.size(); ++i) other.params[i].copy_(one.params[i]);
  }
  twin.step();
  other.step();
  EXPECT_TRUE(other.equals(twin));
}

TEST_P(FailingMemoryOfOptimizers, ALoadThatFailedChangesNothing) {
  int64_t failures = 0;
  for (const Maker& maker : makers()) {
    Subject source(maker, device_);
    for (int i = 0; i < 3; ++i) source.step();
    const auto state = source.optimizer->state_dict();
    // The last attempt succeeds, so each kind of memory has a target of its own.
    Subject first(maker, device_), second(maker, device_);
    first.step();
    second.step();
    failures += fail_each<FailingAllocation>([&] { first.optimizer->load_state_dict(state); },
                                             [&] { expect_after_one_step(first, maker, device_); },
                                             device_);
    failures += fail_each<FailingBlock>([&] { second.optimizer->load_state_dict(state); },
                                        [&] { expect_after_one_step(second, maker, device_); });
  }
  EXPECT_GT(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(, FailingMemoryOfOptimizers, ::testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda
