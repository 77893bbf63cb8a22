// Latency: inference at batch 1 from host memory to host memory, and small training steps, each
// eager and captured once and replayed (Taeda alone has that on the CPU), in turn.
//
// latency [--calls N] [--threads N] [--filter TEXT]: 50th and 99.9th percentile and the fastest of
// N calls of each, one JSON line a case.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models.h"

#if __has_include("taeda/device/graph.h")
#include "taeda/device/graph.h"
#define BENCH_CAPTURES 1
#endif

namespace {

namespace F = torch::nn::functional;
using torch::Tensor;

struct Options {
  int64_t calls = 20000;
  std::string filter;
};

/// A step and, where the library can capture it, its replay.
struct Case {
  std::string name;
  std::function<void()> prepare;  ///< before a step, in and out of captures
  std::function<void()> step;
};

class Samples {
 public:
  template <class Step>
  void take(int64_t calls, const Step& step) {
    using Clock = std::chrono::steady_clock;
    for (int64_t i = 0; i < calls; ++i) {
      const auto start = Clock::now();
      step();
      times_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
  }
  void print(const std::string& name, const char* kind) {
    std::sort(times_.begin(), times_.end());
    const auto at = [&](double part) {
      return times_[static_cast<size_t>(part * static_cast<double>(times_.size() - 1))];
    };
    std::printf(
        "{\"name\": \"%s\", \"kind\": \"%s\", \"p50_us\": %.3f, \"p999_us\": %.3f, \"min_us\": "
        "%.3f, \"calls\": %zu}\n",
        name.c_str(), kind, at(0.5), at(0.999), times_[0], times_.size());
    std::fflush(stdout);
  }

 private:
  std::vector<double> times_;
};

void run(const Options& o, const Case& c) {
  if (c.name.find(o.filter) == std::string::npos) return;
  const auto eager = [&] {
    c.prepare();
    c.step();
  };
  for (int i = 0; i < 10; ++i) eager();
  Samples eager_times, replay_times;
#if BENCH_CAPTURES
  torch::DeviceGraph graph(torch::kCPU);
  {
    c.prepare();
    torch::GraphCapture capture(graph);
    eager();
    capture.end();
  }
  graph.replay();
#endif
  constexpr int kTurns = 10;
  for (int turn = 0; turn < kTurns; ++turn) {
#if BENCH_CAPTURES
    replay_times.take(o.calls / kTurns, [&] { graph.replay(); });
#endif
    eager_times.take(o.calls / kTurns, eager);
  }
  eager_times.print(c.name, "eager");
#if BENCH_CAPTURES
  replay_times.print(c.name, "captured");
#endif
}

/// `forward(x)` from the numbers in `in` to those in `out`, which are the host's.
template <class Forward>
void inference(const Options& o, const std::string& name, torch::IntArrayRef shape,
               Forward forward) {
  torch::NoGradGuard no_grad;
  int64_t numbers = 1;
  for (const int64_t n : shape) numbers *= n;
  const auto host_in = std::make_shared<std::vector<float>>(static_cast<size_t>(numbers), 0.5f);
  const Tensor in = torch::from_blob(host_in->data(), shape, torch::kFloat);
  const auto host_out = std::make_shared<std::vector<float>>(1024);
  const Tensor out = torch::from_blob(host_out->data(), forward(in).sizes(), torch::kFloat);
  run(o, {"infer/" + name, [] {}, [=]() mutable { out.copy_(forward(in)); }});
}

template <class Model>
void training(const Options& o, const std::string& name, Model model, const Tensor& x) {
  const Tensor y = torch::randint(0, 10, {x.size(0)}, torch::kLong);
  auto optimizer =
      std::make_shared<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3));
  run(o, {"train/" + name, [=] { optimizer->zero_grad(); },
          [=]() mutable {
            F::cross_entropy(model->forward(x), y).backward();
            optimizer->step();
          }});
}

Options parse(int argc, char** argv) {
  Options o;
  int threads = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--calls"))
      o.calls = std::atoll(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--threads"))
      threads = std::atoi(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--filter"))
      o.filter = argv[i + 1];
    else {
      std::fprintf(stderr, "usage: %s [--calls N] [--threads N] [--filter TEXT]\n", argv[0]);
      std::exit(2);
    }
  }
  torch::set_num_threads(threads);
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  torch::manual_seed(0);
  torch::nn::Sequential mlp(torch::nn::Linear(64, 64), torch::nn::ReLU(), torch::nn::Linear(64, 64),
                            torch::nn::ReLU(), torch::nn::Linear(64, 8));
  inference(o, "mlp_64", {1, 64}, [=](const Tensor& x) mutable { return mlp->forward(x); });
  models::LeNet cnn;
  inference(o, "lenet", {1, 1, 28, 28}, [=](const Tensor& x) mutable { return cnn->forward(x); });
  torch::nn::LSTMCell cell(64, 64);
  const auto state = std::make_tuple(torch::zeros({1, 64}), torch::zeros({1, 64}));
  inference(o, "lstm_cell_64", {1, 64}, [=](const Tensor& x) mutable {
    const auto next = cell->forward(x, state);
    std::get<0>(state).copy_(std::get<0>(next));
    std::get<1>(state).copy_(std::get<1>(next));
    return std::get<0>(next);
  });
  training(o, "mlp_b64", models::Mlp(), torch::rand({64, 100}));
  training(o, "lenet_b64", models::LeNet(), torch::rand({64, 1, 28, 28}));
}
