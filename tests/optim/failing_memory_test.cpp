// Steps and loads while memory runs out, at each allocation that they make: a step that failed did
// not happen, a load changes everything or nothing.
#include "tests/failing_memory.h"

#include <cstring>
#include <memory>

#include "taeda/device/registry.h"
#include "taeda/ops/create.h"
#include "taeda/ops/random.h"
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
};

/// An optimizer, and parameters that are larger than what a storage keeps in itself.
struct Subject {
  Subject(Maker maker, Device device) {
    manual_seed(3);
    for (int i = 0; i < 3; ++i) {
      params.push_back(rand({300}, device).requires_grad_());
      params.back().mutable_grad() = full_like(params.back(), 0.5 + i);
    }
    optimizer = maker(params);
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
    const auto step = [&] { disturbed.optimizer->step(); };
    const auto unchanged = [&] { EXPECT_TRUE(disturbed.equals(straight)); };
    EXPECT_GT(fail_each<FailingAllocation>(step, unchanged, device_), 0);
    straight.optimizer->step();
    unchanged();
    fail_each<FailingBlock>(step, unchanged);
    straight.optimizer->step();
    unchanged();
    disturbed.optimizer->step();
    straight.optimizer->step();
    EXPECT_TRUE(disturbed.equals(straight)) << "a step was counted twice";
  }
}

TEST_P(FailingMemoryOfOptimizers, ALoadThatFailedChangesNothing) {
  for (const Maker maker : makers) {
    Subject source(maker, device_);
    for (int i = 0; i < 3; ++i) source.optimizer->step();
    const auto state = source.optimizer->state_dict();
    Subject target(maker, device_);
    target.optimizer->step();
    int64_t failed = 0;
    const int64_t failures = fail_each<FailingAllocation>(
        [&] { target.optimizer->load_state_dict(state); },
        [&] {
          // What is not loaded yet goes on as if nothing had been tried.
          Subject twin(maker, device_), other(maker, device_);
          twin.optimizer->step();
          other.optimizer->load_state_dict(target.optimizer->state_dict());
          twin.optimizer->step();
          for (size_t i = 0; i < other.params.size(); ++i) {
            Subject one(maker, device_);
            one.optimizer->step();
            NoGradGuard guard;
            other.params[i].copy_(one.params[i]);
          }
          other.optimizer->step();
          EXPECT_TRUE(other.equals(twin));
          ++failed;
        },
        device_);
    EXPECT_EQ(failures, failed);
    EXPECT_GT(failures, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, FailingMemoryOfOptimizers, ::testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

}  // namespace
}  // namespace taeda
