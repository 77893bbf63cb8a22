// What DataParallel would gain on real accelerators, told without one: the same training step on
// 1, 2, 4 ... simulated devices, in the time that a cost model predicts.
//
//     data_parallel_scaling [--hardware h100] [--devices 1,2,4] [--batch 2048] [--width 1024]
//                           [--layers 4] [--steps 2]
//
// Times are lower bounds (device/sim_cost.h says what the model leaves out); what they tell is
// where the time of a step goes and whether another device helps.
#include <taeda/taeda.h>

#include <algorithm>
#include <iostream>

#include "arguments.h"

namespace {

using namespace taeda;

struct Settings {
  std::string hardware;
  std::vector<int64_t> devices;
  int64_t batch, width, layers, steps;
};

Settings parse(int argc, char** argv) {
  const examples::Arguments given(argc, argv,
                                  {{"hardware", "h100"},
                                   {"devices", "1,2,4"},
                                   {"batch", "2048"},
                                   {"width", "1024"},
                                   {"layers", "4"},
                                   {"steps", "2"}});
  return {given["hardware"],     given.numbers("devices"), given.number("batch"),
          given.number("width"), given.number("layers"),   given.number("steps")};
}

struct Result {
  double step = 0;       ///< seconds
  double computing = 0;  ///< share of the step that the busiest device spends in kernels
  std::vector<int64_t> peaks;
};

void synchronize_all(int devices) {
  for (int i = 0; i < devices; ++i) sim::synchronize(i);
}

nn::Sequential make_network(const Settings& s) {
  nn::Sequential network;
  for (int64_t i = 0; i < s.layers; ++i) {
    network->push_back(nn::Linear(s.width, s.width));
    network->push_back(nn::ReLU());
  }
  network->push_back(nn::Linear(s.width, 10));
  return network;
}

Result measure(const Settings& s, int devices) {
  sim::empty_cache();
  manual_seed(0);
  nn::Sequential network = make_network(s);
  network->to(Device("sim:0"));
  std::vector<Device> ids;
  for (int i = 0; i < devices; ++i) ids.emplace_back(kSim, i);
  nn::DataParallel<nn::SequentialImpl> model(network, ids);
  optim::SGD optimizer(network->parameters(), 0.01);
  const Tensor x = randn({s.batch, s.width}).to(ids[0]);
  const Tensor y = randint(10, {s.batch}, kLong).to(ids[0]);
  const auto step = [&] {
    optimizer.zero_grad();
    cross_entropy(model->forward(x), y).backward();
    optimizer.step();
  };
  step();  // makes the replicas
  synchronize_all(devices);
  for (int i = 0; i < devices; ++i) sim::reset_peak_memory_stats(i);
  std::vector<double> busy;
  for (const Device& d : ids) busy.push_back(-sim::predicted_use(d).kernel_seconds);
  const double begin = sim::predicted_time();
  for (int64_t i = 0; i < s.steps; ++i) step();
  synchronize_all(devices);
  Result out;
  out.step = (sim::predicted_time() - begin) / static_cast<double>(s.steps);
  for (size_t i = 0; i < ids.size(); ++i) {
    busy[i] += sim::predicted_use(ids[i]).kernel_seconds;
    out.peaks.push_back(sim::max_memory_allocated(static_cast<int>(i)));
  }
  out.computing =
      *std::max_element(busy.begin(), busy.end()) / static_cast<double>(s.steps) / out.step;
  return out;
}

void report(const Settings& s) {
  using logging::fixed;
  const int64_t most = *std::max_element(s.devices.begin(), s.devices.end());
  sim::configure(static_cast<int>(most), {.cost = sim::cost_model(s.hardware)});
  std::cout << s.hardware << ", batch " << s.batch << ", " << s.layers << " layers of " << s.width
            << " x " << s.width << " in float32\n";
  logging::Table table({"devices", "step (ms)", "speed-up", "efficiency", "busiest computes",
                        "peak memory by device (MiB)"});
  double one = 0;
  for (const int64_t devices : s.devices) {
    const Result r = measure(s, static_cast<int>(devices));
    if (one == 0) one = r.step * static_cast<double>(s.devices.front());
    std::string peaks;
    for (int64_t bytes : r.peaks)
      peaks += (peaks.empty() ? "" : " ") + fixed(static_cast<double>(bytes) / (1 << 20), 1);
    table.row({std::to_string(devices), fixed(r.step * 1e3, 3), fixed(one / r.step, 2),
               logging::percent(one / r.step / static_cast<double>(devices), 0),
               logging::percent(r.computing, 0), peaks});
  }
  std::cout << table.str();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    report(parse(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}
