// Timing for programs that are written against <torch/torch.h> and so build with Taeda and with
// libtorch alike. A case is called until it has run long enough; the median of its repetitions is
// printed as one JSON line.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Options {
  int threads = 1;
  double seconds = 0.3;  ///< of measurement per case
  std::string filter;
};

/// "--threads N --seconds S --filter TEXT"
inline Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--threads"))
      o.threads = std::atoi(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--seconds"))
      o.seconds = std::atof(argv[i + 1]);
    else if (!std::strcmp(argv[i], "--filter"))
      o.filter = argv[i + 1];
    else {
      std::fprintf(stderr, "usage: %s [--threads N] [--seconds S] [--filter TEXT]\n", argv[0]);
      std::exit(2);
    }
  }
  torch::set_num_threads(o.threads);
  return o;
}

/// Peak resident memory of the process in MB.
inline double peak_memory_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

class Runner {
 public:
  explicit Runner(Options o) : options_(std::move(o)) {}

  /// A filter "=NAME" wants the one case of that name, another those that contain it.
  bool wants(const std::string& name) const {
    if (options_.filter.rfind('=', 0) == 0) return name == options_.filter.substr(1);
    return options_.filter.empty() || name.find(options_.filter) != std::string::npos;
  }

  /// Whether a case whose name begins with `group` ("conv/") may be wanted.
  bool wants_any(const std::string& group) const {
    return options_.filter.find('/') == std::string::npos || wants(group) ||
           options_.filter.find(group) != std::string::npos;
  }

  /// Times `step`; a batch of calls is long enough for the clock.
  void run(const std::string& name, const std::function<void()>& step) {
    if (!wants(name)) return;
    using Clock = std::chrono::steady_clock;
    const auto time = [&](int64_t n) {
      const auto start = Clock::now();
      for (int64_t i = 0; i < n; ++i) step();
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    step();
    int64_t batch = 1;
    while (time(batch) < 0.002 && batch < (int64_t{1} << 24)) batch *= 2;
    std::vector<double> samples;
    for (double spent = 0; spent < options_.seconds || samples.size() < 5;) {
      const double t = time(batch);
      spent += t;
      samples.push_back(t / static_cast<double>(batch) * 1e6);
    }
    std::sort(samples.begin(), samples.end());
    std::printf(
        "{\"name\": \"%s\", \"threads\": %d, \"median_us\": %.4f, \"min_us\": %.4f, \"samples\": "
        "%zu, "
        "\"peak_mb\": %.1f}\n",
        name.c_str(), options_.threads, samples[samples.size() / 2], samples[0], samples.size(),
        peak_memory_mb());
    std::fflush(stdout);
  }

 private:
  Options options_;
};

/// Keeps a result alive past the optimizer.
inline void keep(const torch::Tensor& t) { asm volatile("" : : "r"(&t) : "memory"); }

}  // namespace bench
