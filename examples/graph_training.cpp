// A training step captured once and replayed: graph_training [--device cuda|sim|cpu] [--steps N].
//
// The host describes the step (forward, loss, backward, optimizer) a single time. A replay queues
// all of its kernels at once, so a small network trains as fast as the device computes. The
// learning rate falls from step to step, in replays too. Eagerly and as a graph the losses are the
// same.
#include <torch/torch.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"

namespace {

using torch::Tensor;

/// The same network every time, and random numbers that start anew.
struct Network {
  explicit Network(const torch::Device& device) {
    torch::manual_seed(1);
    model = torch::nn::Sequential(torch::nn::Linear(32, 64), torch::nn::ReLU(),
                                  torch::nn::Dropout(0.1), torch::nn::Linear(64, 8));
    model->to(device);
    optimizer =
        std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-2));
    schedule = std::make_unique<torch::optim::ExponentialLR>(*optimizer, 0.95);
  }
  Tensor step(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    Tensor loss = torch::nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss.detach();
  }

  torch::nn::Sequential model{nullptr};
  std::unique_ptr<torch::optim::Adam> optimizer;
  std::unique_ptr<torch::optim::ExponentialLR> schedule;
};

struct Batches {
  std::vector<Tensor> x, y;
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::vector<double> eager(const torch::Device& device, const Batches& b, int warm_up) {
  Network network(device);
  for (int i = 0; i < warm_up; ++i) network.step(b.x[0], b.y[0]);
  torch::synchronize(device);
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> losses;
  for (size_t i = 0; i < b.x.size(); ++i) {
    losses.push_back(network.step(b.x[i], b.y[i]).item<double>());
    network.schedule->step();
  }
  std::cout << "eager: " << milliseconds_since(start) << " ms\n";
  return losses;
}

std::vector<double> captured(const torch::Device& device, const Batches& b, int warm_up) {
  Network network(device);
  // A graph replays addresses: these tensors are what it reads, whatever they hold then.
  const Tensor x = b.x[0].clone(), y = b.y[0].clone();
  {
    // Some steps first, so that the optimizer's state exists; not on the default stream.
    const torch::StreamGuard side(torch::new_stream(device));
    torch::current_stream(device).wait_stream(torch::default_stream(device));
    for (int i = 0; i < warm_up; ++i) network.step(x, y);
  }
  torch::synchronize(device);
  network.optimizer->zero_grad();
  torch::DeviceGraph graph(device.type());
  Tensor loss;
  {
    torch::GraphCapture capture(graph);
    loss = network.step(x, y);
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> losses;
  for (size_t i = 0; i < b.x.size(); ++i) {
    x.copy_(b.x[i]);
    y.copy_(b.y[i]);
    graph.replay();
    network.schedule->step();
    losses.push_back(loss.item<double>());
  }
  std::cout << "graph: " << milliseconds_since(start) << " ms\n";
  return losses;
}

/// Whether a captured step gives the losses of an eager one.
bool compare(const torch::Device& device, int64_t steps) {
  torch::manual_seed(0);
  Batches b;
  for (int64_t i = 0; i < steps; ++i) {
    b.x.push_back(torch::randn({64, 32}).to(device));
    b.y.push_back(torch::randint(0, 8, {64}, torch::kLong).to(device));
  }
  const std::vector<double> want = eager(device, b, 3), got = captured(device, b, 3);
  std::cout << "last loss: " << want.back() << " eager, " << got.back() << " captured\n";
  std::cout << (want == got ? "every loss is the same\n" : "losses differ\n");
  return want == got;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const char* device = torch::cuda::is_available() ? "cuda" : "sim";
    const examples::Arguments arguments(argc, argv, {{"device", device}, {"steps", "20"}});
    return compare(arguments.device(), arguments.number("steps")) ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
