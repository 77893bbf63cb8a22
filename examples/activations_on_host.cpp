// A deep network whose activations do not fit: kept in host memory between forward and backward.
//
//     activations_on_host [--device sim|cuda|cpu] [--layers 24] [--batch 2048] [--width 256]
//
// Prints the peak of device memory of a training step with and without `save_on_cpu`, and that the
// gradients are the same. On the CPU there is nothing to move, so both peaks are the same.
#include <taeda/taeda.h>

#include <iostream>

#include "arguments.h"
#include "taeda/autograd/graph.h"

namespace {

using namespace taeda;

struct Settings {
  std::string device = "sim";
  int64_t layers = 24, batch = 2048, width = 256;
};

Settings parse(int argc, char** argv) {
  const Settings s;
  const examples::Arguments given(argc, argv,
                                  {{"device", s.device},
                                   {"layers", std::to_string(s.layers)},
                                   {"batch", std::to_string(s.batch)},
                                   {"width", std::to_string(s.width)}});
  return {given["device"], given.number("layers"), given.number("batch"), given.number("width")};
}

struct Step {
  double peak = 0;  ///< MiB above what parameters and input take
  Tensor gradient;
};

Step step(nn::Sequential net, const Tensor& x, bool on_host) {
  net->zero_grad();
  const Device device = x.device();
  allocator::reset_peak_memory_stats(device);
  const auto before = static_cast<double>(allocator::memory_stats(device).allocated);
  Tensor loss;
  {
    std::optional<autograd::graph::save_on_cpu> scope;
    if (on_host) scope.emplace(/*pin_memory=*/!device.is_cpu());
    loss = net->forward(x).square().mean();
  }
  loss.backward();
  Step out;
  out.peak =
      (static_cast<double>(allocator::memory_stats(device).peak_allocated) - before) / (1 << 20);
  out.gradient = net->parameters()[0].grad().cpu();
  return out;
}

void run(const Settings& s) {
  if (s.device == "sim" && device_count(kSim) == 0) sim::configure(1);
  manual_seed(0);
  nn::Sequential net;
  for (int64_t i = 0; i < s.layers; ++i) {
    net->push_back(nn::Linear(s.width, s.width));
    net->push_back(nn::Tanh());
  }
  const Device device(s.device);
  net->to(device);
  const Tensor x = randn({s.batch, s.width}).to(device);
  step(net, x, false);  // the first step makes what later ones use
  const Step kept = step(net, x, false), moved = step(net, x, true);
  std::cout << "peak of a step on " << device << ", activations kept there:  " << kept.peak
            << " MiB\npeak of a step on " << device << ", activations on host:    " << moved.peak
            << " MiB\ngradients are " << (kept.gradient.equal(moved.gradient) ? "" : "not ")
            << "the same\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
