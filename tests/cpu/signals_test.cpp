// Signals arrive in the middle of kernels. Their handlers use the stack of whoever computes, or one
// of their own, which products of few rows want: Note [Signals and borrowed stacks] in
// cpu/onednn.cpp.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "taeda/taeda.h"

namespace taeda {
namespace {

constinit std::atomic<int> arrived{0};

/// A signal every 200 us of this process's time in a scope.
class Timer {
 public:
  explicit Timer(int flags) {
    struct sigaction action = {};
    action.sa_handler = [](int) { ++arrived; };
    action.sa_flags = SA_RESTART | flags;
    sigaction(SIGPROF, &action, &before_);
    const itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_PROF, &often, nullptr);
  }
  ~Timer() {
    const itimerval never = {};
    setitimer(ITIMER_PROF, &never, nullptr);
    sigaction(SIGPROF, &before_, nullptr);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  struct sigaction before_ = {};
};

/// `compute` gives the same bits however many signals arrive meanwhile.
void expect_undisturbed(const char* what, const std::function<Tensor()>& compute, int flags = 0) {
  SCOPED_TRACE(what);
  const Tensor expected = compute();
  const Timer timer(flags);
  arrived = 0;
  int wrong = 0, rounds = 0;
  for (; rounds < 20000 && arrived < 60; ++rounds) wrong += !compute().equal(expected);
  EXPECT_EQ(wrong, 0) << "of " << rounds << " rounds with " << arrived << " signals";
}

TEST(Signals, LeaveKernelsAlone) {
  manual_seed(0);
  const Tensor a = rand({200, 200}), b = rand({200, 200});
  const Tensor x = rand({4, 64, 96}), y = rand({4, 64, 80});
  for (const ScalarType dtype : {kFloat, kBFloat16}) {
    const Tensor p = a.to(dtype), q = b.to(dtype), r = x.to(dtype), s = y.to(dtype);
    expect_undisturbed("rows", [&] { return p.mm(q); });
    expect_undisturbed("transposed on the left", [&] { return p.t().mm(q); });
    expect_undisturbed("transposed on the right", [&] { return p.mm(q.t()); });
    expect_undisturbed("batches", [&] { return r.transpose(1, 2).bmm(s); });
    expect_undisturbed("sums", [&] { return p.softmax(1).sum(0); });
  }
  nn::Conv2d conv({.in_channels = 16, .out_channels = 32, .kernel_size = 3, .padding = 1});
  nn::LSTM lstm(32, 64);
  const Tensor images = rand({4, 16, 24, 24}), steps = rand({8, 4, 32});
  const auto gradient = [](nn::Module& module, const Tensor& loss) {
    module.zero_grad();
    loss.backward();
    return module.parameters()[0].grad().clone();
  };
  expect_undisturbed("convolution", [&] { return gradient(*conv, conv(images).square().sum()); });
  expect_undisturbed("recurrent network",
                     [&] { return gradient(*lstm, std::get<0>(lstm(steps)).square().sum()); });
}

TEST(Signals, LeaveProductsOfFewRowsAlone) {
  manual_seed(0);
  const Tensor x = rand({20, 784}), weight = rand({128, 784}), grad = rand({20, 128});
  const auto check = [](const char* what, const std::function<Tensor()>& compute) {
    expect_undisturbed(what, compute, SA_ONSTACK);
  };
  check("a layer", [&] { return linear(x, weight); });
  check("its input's gradient", [&] { return grad.mm(weight); });
  check("its weight's gradient", [&] { return grad.t().mm(x); });
}

/// Threads of this process that a SIGTERM may interrupt.
std::set<std::string> open_threads() {
  std::set<std::string> out;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("SigBlk:") &&
          (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) == 0)
        out.insert(task.path().filename());
  }
  return out;
}

TEST(Signals, AreNotForThreadsThatShareLoops) {
  const int before = get_num_threads();
  const std::set<std::string> others = open_threads();
  nn::Conv2d conv({.in_channels = 64, .out_channels = 64, .kernel_size = 3, .stride = 2});
  const Tensor images = rand({8, 64, 32, 32});
  for (const int threads : {2, 5, 3, 6}) {  // OpenMP ends threads that a smaller team does not use
    set_num_threads(threads);
    conv(images).sum().backward();
    parallel_for(0, threads, 1, [](int64_t, int64_t) {});
    EXPECT_EQ(open_threads(), others) << threads;
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace taeda
