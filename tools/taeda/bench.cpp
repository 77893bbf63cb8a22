// `taeda bench`: the same work on the CPU and on each device, timed with synchronisation, and how
// far the results are apart.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "taeda/base/parallel_for.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/optim/sgd.h"
#include "taeda/tensor/grad_mode.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/train/networks.h"

namespace taeda::tool {

namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  std::string only = "matmul,transfers,operations,steps", sizes = "256,512,1024", device = "all";
  int64_t repeats = 5, threads = 0;
  bool json = false;
};

/// Median seconds of a call, after one that warms up; and what it gave.
struct Timing {
  double seconds = 0;
  Tensor result;
};

Timing measure(Device device, int64_t repeats, const std::function<Tensor()>& work) {
  Timing out{0, work()};
  const auto finish = [&] {
    if (!device.is_cpu()) synchronize(device);
  };
  std::vector<double> seconds;
  for (int64_t i = 0; i < repeats; ++i) {
    finish();
    const auto start = Clock::now();
    out.result = work();
    finish();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  out.seconds = seconds[static_cast<size_t>(repeats / 2)];
  return out;
}

/// Work that can be done on any device: `make` puts its inputs there and returns what is timed.
struct Case {
  std::string group, name;
  std::function<std::function<Tensor()>(Device)> make;
  double amount = 0;      ///< of `unit`, in one call
  std::string unit = "";  ///< "GFLOP", "GB"
};

void add_matmul(std::vector<Case>& cases, const std::vector<int64_t>& sizes) {
  for (int64_t n : sizes)
    cases.push_back(
        {"matmul", std::to_string(n) + " x " + std::to_string(n),
         [n](Device d) -> std::function<Tensor()> {
           const Generator random(kCPU, 1);
           Tensor a = empty({n, n}), b = empty({n, n});
           random.fill_normal(a.data_ptr<float>(), a.numel());
           random.fill_normal(b.data_ptr<float>(), b.numel());
           return [x = a.to(d), y = b.to(d)] { return matmul(x, y); };
         },
         2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n), "GFLOP"});
}

constexpr int64_t kRows = 1000, kColumns = 1000;

void add_transfers(std::vector<Case>& cases) {
  const double gigabytes = 4e-9 * kRows * kColumns;
  const auto add = [&](const std::string& name,
                       std::function<std::function<Tensor()>(Device)> make) {
    cases.push_back({"transfers", name, std::move(make), gigabytes, "GB"});
  };
  add("1000 x 1000 to the device, whole", [](Device d) -> std::function<Tensor()> {
    return [d, host = ones({kRows, kColumns})] { return host.to(d, false, /*copy=*/true); };
  });
  add("the same from pinned memory", [](Device d) -> std::function<Tensor()> {
    const Tensor host = ones({kRows, kColumns});
    const Tensor pinned = d.is_cpu() ? host : host.pin_memory();
    return [d, pinned] { return pinned.to(d, /*non_blocking=*/true, /*copy=*/true); };
  });
  add("the same row by row", [](Device d) -> std::function<Tensor()> {
    const Tensor host = ones({kRows, kColumns}), target = empty({kRows, kColumns}, d);
    return [host, target] {
      for (int64_t i = 0; i < kRows; ++i) target.select(0, i).copy_(host.select(0, i));
      return target;
    };
  });
  add("back to the host", [](Device d) -> std::function<Tensor()> {
    return [there = ones({kRows, kColumns}, d)] {
      return there.to(Device(kCPU), false, /*copy=*/true);
    };
  });
}

void add_operations(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, std::vector<int64_t> sizes,
                       std::function<Tensor(const Tensor&)> work) {
    cases.push_back({"operations", name, [=](Device d) -> std::function<Tensor()> {
                       const Generator random(kCPU, 2);
                       Tensor x = taeda::empty(sizes);
                       random.fill_normal(x.data_ptr<float>(), x.numel());
                       return [x = x.to(d), work] { return work(x); };
                     }});
  };
  const std::vector<int64_t> large = {2000, 1000};
  add("add, 2 M", large, [](const Tensor& x) { return x + x; });
  add("gelu, 2 M", large, [](const Tensor& x) { return gelu(x); });
  add("softmax, 2000 x 1000", large, [](const Tensor& x) { return x.softmax(1); });
  add("sum, 2 M", large, [](const Tensor& x) { return x.sum(); });
  add("transpose and copy, 2 M", large, [](const Tensor& x) { return x.t().contiguous(); });
  add("conv2d 3 x 3, 16 x 16 x 56 x 56", {16, 16, 56, 56}, [](const Tensor& x) {
    const Tensor w = full({16, 16, 3, 3}, 0.01, x.device());
    return conv2d(x, w, {}, 1, 1);
  });
}

/// A training step of the network; its result is the loss.
void add_steps(std::vector<Case>& cases) {
  struct Step {
    const char* name;
    std::function<nn::AnyModule()> network;
    std::vector<int64_t> input;
  };
  for (const Step& step :
       {Step{"convolutional network, 100 x 28 x 28",
             [] {
               return make_picture_model("cnn", {1, 28, 28}, 10);
             },
             {100, 1, 28, 28}},
        Step{"three layers of 512, batch 256", [] { return make_mlp(512, 512, 10); }, {256, 512}}})
    cases.push_back({"steps", step.name, [step](Device d) -> std::function<Tensor()> {
                       manual_seed(3);
                       auto network = std::make_shared<nn::AnyModule>(step.network());
                       const Tensor x = taeda::rand(step.input).to(d),
                                    y = arange(step.input[0]).remainder(10).to(d);
                       (*network)->to(d);
                       auto optimizer =
                           std::make_shared<optim::SGD>((*network)->parameters(), 0.01);
                       return [=] {
                         const Tensor loss = cross_entropy(network->forward(x), y);
                         optimizer->zero_grad();
                         loss.backward();
                         optimizer->step();
                         return loss.detach();
                       };
                     }});
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) out.push_back(part);
  return out;
}

std::vector<Case> chosen_cases(const BenchOptions& o) {
  std::vector<int64_t> sizes;
  check_flag(!listed(o.sizes).empty(), "--sizes", "numbers from 1 to 32768", o.sizes);
  for (const std::string& text : listed(o.sizes)) {
    int64_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    check_flag(whole && n > 0 && n <= 32768, "--sizes", "numbers from 1 to 32768", text);
    sizes.push_back(n);
  }
  std::vector<Case> out;
  for (const std::string& group : listed(o.only)) {
    if (group == "matmul")
      add_matmul(out, sizes);
    else if (group == "transfers")
      add_transfers(out);
    else if (group == "operations")
      add_operations(out);
    else if (group == "steps")
      add_steps(out);
    else
      throw UsageError("--only takes matmul, transfers, operations, steps, got " + group);
  }
  if (out.empty()) throw UsageError("--only names nothing to measure");
  return out;
}

/// The CPU, which others are compared with, and the devices that were asked for.
std::vector<Device> chosen_devices(const BenchOptions& o) {
  std::vector<Device> out = {Device(kCPU)};
  if (o.device == "all") {
    const std::vector<Device> all = accelerators();
    out.insert(out.end(), all.begin(), all.end());
    return out;
  }
  for (const std::string& name : listed(o.device))
    if (const Device d = resolve(Device(name)); !d.is_cpu()) out.push_back(d);
  return out;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return 0;
  return (a.cpu().to(kDouble) - b.cpu().to(kDouble)).abs().max().item<double>();
}

/// Measures a case everywhere; one row of the table for each device.
void run_case(const Case& c, const std::vector<Device>& devices, const BenchOptions& o,
              logging::Table& table, Json& list) {
  Timing cpu;
  for (const Device& d : devices) {
    const DeviceGuard guard(d);
    const Timing t = measure(d, o.repeats, c.make(d));
    if (d.is_cpu()) cpu = t;
    const double difference = largest_difference(cpu.result, t.result);
    const double rate = c.amount / t.seconds;
    Json entry = {{"group", c.group},
                  {"case", c.name},
                  {"device", d.str()},
                  {"seconds", t.seconds},
                  {"speedup", cpu.seconds / t.seconds},
                  {"largest_difference", difference}};
    if (!c.unit.empty()) entry.set(c.unit + "_per_second", rate);
    list.push_back(std::move(entry));
    char difference_text[32];
    std::snprintf(difference_text, sizeof difference_text, "%.2g", difference);
    table.row({c.group, c.name, d.str(), logging::fixed(t.seconds * 1e3, 3),
               c.unit.empty() ? "" : logging::fixed(rate, 2), c.unit.empty() ? "" : c.unit + "/s",
               d.is_cpu() ? "" : logging::fixed(cpu.seconds / t.seconds, 2),
               d.is_cpu() ? "" : difference_text});
  }
}

int run_bench(const BenchOptions& o) {
  check_flag(o.repeats > 0 && o.repeats <= 10000, "--repeats", "from 1 to 10000", o.repeats);
  check_flag(o.threads >= 0 && o.threads <= 4096, "--threads", "from 0 to 4096", o.threads);
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  const std::vector<Case> cases = chosen_cases(o);
  const std::vector<Device> devices = user_input([&] { return chosen_devices(o); });
  logging::Table table(
      {"", "case", "device", "ms", "rate", "unit", "against cpu", "largest difference"});
  Json list = Json::array();
  for (const Case& c : cases) run_case(c, devices, o, table, list);
  if (o.json) {
    print_json({{"threads", get_num_threads()}, {"repeats", o.repeats}, {"results", list}});
    return 0;
  }
  std::printf("%smedians of %lld calls, %s on the CPU\n", table.str().c_str(),
              static_cast<long long>(o.repeats), threads_text().c_str());
  return 0;
}

}  // namespace

void add_bench(const Command& app) {
  const Command c = app.add_command(
      "bench", "Compare the CPU with each device",
      {"taeda bench", "taeda bench --only matmul --sizes 1000,4000,10000 --device cuda",
       "taeda bench --only transfers,steps --device sim --json"});
  auto o = std::make_shared<BenchOptions>();
  c.add_option("--only", o->only, "What to measure");
  c.add_option("--sizes", o->sizes, "Sizes of the matrix products");
  c.add_option("--device", o->device, "Devices to compare with, comma-separated, or all");
  c.add_option("--repeats", o->repeats, "Calls of which the median counts");
  c.add_option("--threads", o->threads, "Threads of the CPU; 0: one per core");
  c.add_flag("--json", o->json, "Print JSON");
  c.on_call([o] { return run_bench(*o); });
}

}  // namespace taeda::tool
