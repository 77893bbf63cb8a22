// Random programs - views, changes in place, products, reductions, random numbers, indices that the
// host writes, gradients - captured once and replayed on new inputs: the bits of the eager program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "taeda/device/graph.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/values.h"

namespace taeda {
namespace {

constexpr int64_t kSide = 6;

/// Calls operations on square matrices as the numbers of `random` say; the same for the same seed.
class Program {
 public:
  Program(unsigned seed, const std::vector<Tensor>& inputs) : random_(seed), pool_(inputs) {}

  /// What is left in the pool, and the gradients of the inputs.
  std::vector<Tensor> run() {
    const std::vector<Tensor> inputs = pool_;
    const int length = 5 + number(40);
    for (int i = 0; i < length; ++i) step();
    Tensor sum = zeros({});
    for (const Tensor& t : pool_) sum = sum + t.tanh().sum();
    sum.backward();
    std::vector<Tensor> out{sum.detach()};
    for (const Tensor& t : pool_) out.push_back(t.detach());
    for (const Tensor& t : inputs)
      if (t.grad().defined()) out.push_back(t.grad());
    return out;
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  const Tensor& any() { return pool_[static_cast<size_t>(number(static_cast<int>(pool_.size())))]; }
  void put(Tensor t) {
    if (pool_.size() < 8)
      pool_.push_back(std::move(t));
    else
      pool_[2 + static_cast<size_t>(number(6))] = std::move(t);  // inputs stay, others are freed
  }
  void step() {
    const Tensor a = any(), b = any();
    switch (number(16)) {
      case 0: return put(a + b * 0.5);
      case 1: return put(a.matmul(b).tanh());
      case 2: return put(a.t());
      case 3: return put((a * 1.5).add_(b).mul_(0.5));
      case 4: return put(softmax(a, number(2)));
      case 5: return put(a - a.mean(IntArrayRef{number(2)}, true));
      case 6: return put(dropout(a, 0.3, true));
      case 7: return put(a + rand({kSide, kSide}));
      case 8: {
        std::vector<int64_t> order;
        for (int i = 0; i < kSide; ++i) order.push_back(number(static_cast<int>(kSide)));
        return put(a.index_select(number(2), tensor(order, kLong)));
      }
      case 9: return put(cat({a.narrow(0, 0, 2), b.narrow(0, 2, kSide - 2)}));
      case 10: {
        const Tensor c = a.clone();
        c.narrow(1, number(5), 1).add_(b.narrow(1, 0, 1));  // in place, through a view
        return put(c);
      }
      case 11: return put(relu(a) + full({1}, number(3), kFloat));
      case 12: return put(std::get<0>(a.sort(number(2))));
      case 13: return put(a.reshape({2, -1}).view({kSide, kSide}).contiguous().cumsum(1) * 0.2);
      case 14: return put(a.to(kDouble).sigmoid().to(kFloat));
      default: return put(where(a > b, a, b * 0.1));
    }
  }

  std::mt19937 random_;
  std::vector<Tensor> pool_;
};

using Results = std::vector<std::vector<float>>;

Results numbers(const std::vector<Tensor>& list) {
  Results out;
  for (const Tensor& t : list) out.push_back(values<float>(t));
  return out;
}

std::vector<Tensor> leaves() {
  return {zeros({kSide, kSide}).requires_grad_(), zeros({kSide, kSide}).requires_grad_()};
}

void feed(const std::vector<Tensor>& inputs, int round) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Generator g(kCPU, static_cast<uint64_t>(round) * 8 + i);
    inputs[i].detach().copy_(randn({kSide, kSide}, {}, g));
  }
}

TEST(CapturedPrograms, ReplaysEqualEagerRuns) {
  const char* more = std::getenv("TAEDA_PROGRAMS");
  const int count = more ? std::atoi(more) : 300;
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    std::vector<Results> want;
    manual_seed(3);
    for (int round = 0; round < 3; ++round) {
      const std::vector<Tensor> inputs = leaves();
      feed(inputs, round);
      want.push_back(numbers(Program(static_cast<unsigned>(seed), inputs).run()));
    }
    manual_seed(3);
    const std::vector<Tensor> inputs = leaves();
    DeviceGraph graph(kCPU);
    std::vector<Tensor> results;
    {
      GraphCapture capture(graph);
      results = Program(static_cast<unsigned>(seed), inputs).run();
      capture.end();
    }
    for (int round = 0; round < 3; ++round) {
      feed(inputs, round);
      graph.replay();
      ASSERT_EQ(numbers(results), want[static_cast<size_t>(round)]) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace taeda
