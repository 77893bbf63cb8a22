// What the seed programs share: the device they run on, a clock, and the networks they train.
#pragma once

#include <taeda/taeda.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "../arguments.h"

namespace seeds {

using namespace taeda;

using examples::Arguments, examples::device_option;

/// The device named by --device, the one option; without it "cuda" if there is one, else "cpu".
inline Device device_of(int argc, char** argv) {
  return Arguments(argc, argv, {device_option()}).device();
}

/// The device of one of several processes: the GPU of its number among those of its machine, or the
/// CPU.
inline Device device_of_rank(Device device, int rank) {
  return device.is_cpu() ? device : Device(device.type(), rank);
}

/// The first `count` devices of the type, or all; none on the CPU, where DataParallel runs the
/// module as on a machine without GPUs.
inline std::vector<Device> gpus(Device device, int64_t count = -1) {
  if (device.is_cpu()) return {};
  std::vector<Device> all;
  const int64_t n = count < 0 ? device_count(device.type()) : count;
  for (int i = 0; i < n; ++i) all.emplace_back(device.type(), i);
  return all;
}

/// With four decimals, as the tutorials print seconds and losses.
inline std::string four_decimals(double number) { return logging::fixed(number, 4); }

/// Waits until the device has done what was asked of it.
inline void finish(Device device) {
  if (!device.is_cpu()) synchronize(device);
}

/// The first line of a program that measures; where the device is simulated, whose times follow.
inline void print_measured(Device device) {
  std::cout << "Using device: " << device << "\n";
  const std::string model = std::getenv("TAEDA_SIM_COST");
  const bool simulated =
      device.is_cuda() && cuda::get_device_name(device).find("simulated") != std::string::npos;
  if (simulated && !model.empty())
    std::cout << "It is simulated: its times are those that the cost model " << model
              << " predicts\n";
}

/// Seconds that `work` takes, until the device has finished it: on a simulated one by the clock of
/// its cost model.
template <class Work>
double seconds(Device device, Work&& work) {
  finish(device);
  const double predicted = sim::predicted_time();
  const auto start = std::chrono::steady_clock::now();
  work();
  finish(device);
  const double by_model = sim::predicted_time() - predicted;
  if (by_model > 0) return by_model;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs a program; an Error becomes one line and exit code 1.
template <class Program>
int run(Program&& program) {
  try {
    program();
    return 0;
  } catch (const Error& e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
  }
}

/// Runs a program that measures time. Simulated devices are no faster than the CPU that they run
/// on, so a cost model says what hardware would need: TAEDA_SIM_COST, or else that of an H100.
template <class Program>
int run_measured(Program&& program) {
  setenv("TAEDA_SIM_COST", "h100", /*overwrite=*/0);
  return run(std::forward<Program>(program));
}

}  // namespace seeds
