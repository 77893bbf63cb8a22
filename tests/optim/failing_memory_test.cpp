// Steps and loads while memory runs out, at each allocation that they make: a step that failed did
// not happen, a load changes everything or nothing.
#include "tests/failing_memory.h"

#include <cstring>
#include <memory>

#include "taeda/device/registry.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"
#include "taeda/ops/random.h"
#include "taeda/ops/reduce.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {
namespace {

using Made = std::unique_ptr<optim::Optimizer>;
using Maker = Made (*)(const std::vector<Tensor>&);

const Maker makers[] = {
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Adam>(p, optim::AdamOptions(0.1).amsgrad(true));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      const auto options = optim::RMSpropOptions(0.1).centered(true).momentum(0.5);
      return std::make_unique<optim::RMSprop>(p, options);
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Adagrad>(p, optim::AdagradOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Adamax>(p, optim::AdamaxOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::NAdam>(p, optim::NAdamOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::RAdam>(p, optim::RAdamOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Adadelta>(p, optim::AdadeltaOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Rprop>(p, optim::RpropOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::ASGD>(p, optim::ASGDOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Adafactor>(p, optim::AdafactorOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Lion>(p, optim::LionOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::Muon>(p, optim::MuonOptions(0.1));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::LBFGS>(p, optim::LBFGSOptions(0.1).max_iter(3));
    },
    [](const std::vector<Tensor>& p) -> Made {
      return std::make_unique<optim::LBFGS>(
          p, optim::LBFGSOptions(0.1).max_iter(2).line_search_fn("strong_wolfe"));
    },
};

/// An optimizer, and parameters that are larger than what a storage keeps in itself.
struct Subject {
  Subject(Maker maker, Device device) {
    manual_seed(3);
    for (int i = 0; i < 3; ++i) {
      params.push_back(rand({20, 15}, device).requires_grad_());
      params.back().mutable_grad() = full_like(params.back(), 0.5 + i);
    }
    optimizer = maker(params);
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
      const Tensor a = params[i].detach().cpu(), b = other.params[i].detach().cpu();
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
  for (const Maker maker : makers) {
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
void expect_after_one_step(const Subject& target, Maker maker, Device device) {
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
  for (const Maker maker : makers) {
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
