// Where the time and the memory of a training loop go: a table on the terminal, and a trace for
// chrome://tracing or https://ui.perfetto.dev.
//
//     profiling [--device cpu] [--trace trace.json]
#include <taeda/taeda.h>

#include <iostream>
#include <string>

#include "arguments.h"

using namespace taeda;

namespace {

void train(Device device, const std::string& trace) {
  manual_seed(0);
  nn::Sequential model{{"conv", nn::Conv2d(1, 8, 3)},
                       {"relu", nn::ReLU()},
                       {"pool", nn::MaxPool2d(2)},
                       {"flatten", nn::Flatten()},
                       {"out", nn::Linear(8 * 13 * 13, 10)}};
  model->to(device);
  optim::Adam optimizer(model->parameters(), {.lr = 1e-3});
  nn::CrossEntropyLoss criterion;
  const Tensor images = randn({64, 1, 28, 28}), labels = randint(0, 10, {64});

  // Two steps to get warm, then three that count.
  profiler::profile prof({.schedule = profiler::schedule(1, 1, 3, 1),
                          .record_shapes = true,
                          .profile_memory = true,
                          .with_modules = true});
  for (int step = 0; step < 5; ++step) {
    Tensor x, y;
    {
      const profiler::record_function range("copy the batch");
      x = images.to(device);
      y = labels.to(device);
    }
    const Tensor loss = criterion(model(x), y);
    optimizer.zero_grad();
    {
      const profiler::record_function range("backward");
      loss.backward();
    }
    optimizer.step();
    std::cout << "step " << step << ", loss " << loss.item<float>() << "\n";
    prof.step();
  }
  prof.stop();

  std::cout << prof.key_averages().table("self_cpu_time_total", 15);
  prof.export_chrome_trace(trace);
  std::cout << prof.events().events.size() << " events written to " << trace << "\n";
  std::cout << allocator::memory_summary(device, true);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    using namespace examples;
    const Arguments arguments(argc, argv, {device_option(), {"trace", "trace.json"}});
    train(resolve(arguments.device()), arguments["trace"]);
    return 0;
  } catch (const Error& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
