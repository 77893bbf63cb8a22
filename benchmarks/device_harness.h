// Timing on a device, for benchmarks/device_race.cpp: device events around batches of calls that
// rotate through several sets of inputs, medians, and a digest of each result, by which the race's
// two sides are compared before they are timed.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace race {

using torch::Device;
using torch::Tensor;

struct Options {
  std::string device = "cuda";
  std::string sizes = "full";  ///< "full" for a GPU, "cpu", "tiny" to test the race itself
  std::vector<std::string> filters;
  bool list = false;
  bool interactive = false;  ///< a case is timed when "time" is read, and left at another word
  double seconds = 0.3;      ///< of measurement per case
};

/// "--device NAME --sizes NAME --filter TEXT --seconds S --interactive --list"; a filter "=NAME"
/// means one case.
inline Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--interactive") {
      o.interactive = true;
    } else if (word == "--list") {
      o.list = true;
    } else if (word == "--device" && more) {
      o.device = argv[++i];
    } else if (word == "--sizes" && more) {
      o.sizes = argv[++i];
    } else if (word == "--filter" && more) {
      o.filters.push_back(argv[++i]);
    } else if (word == "--seconds" && more) {
      o.seconds = std::atof(argv[++i]);
    } else {
      std::fprintf(stderr,
                   "usage: %s [--device NAME] [--sizes full|cpu|tiny] [--filter TEXT] "
                   "[--seconds S] [--interactive] [--list]\n",
                   argv[0]);
      std::exit(2);
    }
  }
  return o;
}

/// What a call moves and computes, for GB/s and TFLOP/s; 0 where that says nothing.
struct Work {
  double bytes = 0, flops = 0;
};

class Race {
 public:
  static constexpr int kSets = 3;
  using Step = std::function<Tensor()>;

  explicit Race(Options options) : options_(std::move(options)), device_(options_.device) {}

  const Device& device() const { return device_; }
  bool tiny() const { return options_.sizes == "tiny"; }
  /// The one of the sizes that the race is for.
  int64_t size(int64_t full, int64_t cpu, int64_t tiny) const {
    return options_.sizes == "full" ? full : options_.sizes == "cpu" ? cpu : tiny;
  }

  bool wants(const std::string& name) const {
    if (options_.filters.empty()) return true;
    for (const std::string& f : options_.filters)
      if (f[0] == '=' ? name == f.substr(1) : name.find(f) != std::string::npos) return true;
    return false;
  }

  /// Numbers on the device that are the same on both sides: drawn on the CPU from a seed. The last
  /// ones are remembered, because cases share inputs and drawing takes longer than copying.
  Tensor randn(int set, int which, torch::IntArrayRef sizes,
               torch::ScalarType dtype = torch::kFloat) {
    constexpr size_t kRemembered = 12;
    const std::tuple key(set, which, std::vector<int64_t>(sizes.begin(), sizes.end()));
    if (drawn_.size() >= kRemembered && !drawn_.count(key)) drawn_.clear();
    Tensor& host = drawn_[key];
    if (!host.defined()) {
      torch::manual_seed(static_cast<uint64_t>(1000 * set + which));
      host = torch::randn(sizes);
    }
    return host.to(device_, dtype, false, true);
  }
  Tensor randint(int set, int which, int64_t high, torch::IntArrayRef sizes) {
    torch::manual_seed(static_cast<uint64_t>(1000 * set + which));
    return torch::randint(0, high, sizes, torch::kLong).to(device_);
  }

  /// Shows what the steps that `make(set)` gives compute, then times them. An error is shown, too,
  /// and ends the case alone.
  void run(const std::string& name, Work work, const std::function<Step(int)>& make,
           bool comparable = true) {
    if (!wants(name)) return;
    if (options_.list) {
      std::printf("{\"name\": \"%s\"}\n", name.c_str());
      return;
    }
    try {
      race(name, work, make, comparable);
    } catch (const std::exception& e) {
      std::string text = e.what();
      for (char& c : text)
        if (c == '"' || c == '\\' || c == '\n') c = ' ';
      std::printf("{\"name\": \"%s\", \"error\": \"%s\"}\n", name.c_str(), text.c_str());
      std::fflush(stdout);
    }
  }

 private:
  void race(const std::string& name, Work work, const std::function<Step(int)>& make,
            bool comparable) {
    torch::allocator::empty_cache(device_);
    torch::allocator::reset_peak_memory_stats(device_);
    std::vector<Step> steps;
    for (int set = 0; set < kSets; ++set) steps.push_back(make(set));
    std::string digests;
    for (int set = 0; set < kSets; ++set) {
      const Tensor result = steps[static_cast<size_t>(set)]();
      if (comparable) digests += (set > 0 ? ", " : "") + digest(result);
    }
    std::printf("{\"name\": \"%s\", \"bytes\": %.0f, \"flops\": %.0f, \"digest\": [%s]}\n",
                name.c_str(), work.bytes, work.flops, digests.c_str());
    std::fflush(stdout);
    while (!options_.interactive || wanted()) {
      const std::vector<double> samples = measure(steps);
      std::printf(
          "{\"name\": \"%s\", \"median_us\": %.3f, \"min_us\": %.3f, \"samples\": %zu, "
          "\"peak_mb\": %.1f}\n",
          name.c_str(), samples[samples.size() / 2], samples[0], samples.size(),
          static_cast<double>(torch::allocator::memory_stats(device_).peak_allocated) / 1e6);
      std::fflush(stdout);
      if (!options_.interactive) return;
    }
  }

  /// Whether the other end asks for the time of the case.
  static bool wanted() {
    std::string word;
    if (!std::getline(std::cin, word)) std::exit(1);  // nobody is left to ask
    return word == "time";
  }

  /// Microseconds per call, sorted.
  std::vector<double> measure(const std::vector<Step>& steps) {
    const torch::Stream stream = torch::current_stream(device_);
    torch::Event begin(true), end(true);
    size_t next = 0;
    const auto time = [&](int64_t n) {
      begin.record(stream);
      for (int64_t i = 0; i < n; ++i) steps[next++ % steps.size()]();
      end.record(stream);
      end.synchronize();
      return begin.elapsed_time(end) * 1e3;
    };
    int64_t batch = kSets;
    while (time(batch) < 2000 && batch < (int64_t{1} << 16)) batch *= 2;
    std::vector<double> samples;
    // Five samples, unless they take seconds.
    for (double spent = 0; spent < options_.seconds * 1e6 || (samples.size() < 5 && spent < 2e6);) {
      const double t = time(batch);
      spent += t;
      samples.push_back(t / static_cast<double>(batch));
    }
    std::sort(samples.begin(), samples.end());
    return samples;
  }

  /// The mean size of some thousand of the result's elements, and eight of them.
  static std::string digest(const Tensor& result) {
    constexpr int64_t kLooked = 4096, kShown = 8;
    const Tensor flat = result.detach().reshape({-1});
    const int64_t n = flat.numel(), stride = std::max<int64_t>(1, n / kLooked);
    const Tensor some = flat.slice(0, 0, n, stride).contiguous().cpu().to(torch::kDouble);
    std::string out = "[" + number(some.numel() ? some.abs().mean().item<double>() : 0.0);
    for (int64_t i = 0; i < std::min(kShown, some.numel()); ++i)
      out += ", " + number(some.select(0, i * some.numel() / kShown % some.numel()).item<double>());
    return out + "]";
  }

  /// As Python's JSON writes numbers.
  static std::string number(double x) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
    char text[40];
    std::snprintf(text, sizeof text, "%.8g", x);
    return text;
  }

  Options options_;
  Device device_;
  std::map<std::tuple<int, int, std::vector<int64_t>>, Tensor> drawn_;
};

}  // namespace race
