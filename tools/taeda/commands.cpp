#include "tools/taeda/commands.h"

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "taeda/base/parallel_for.h"
#include "taeda/device/cuda.h"
#include "taeda/device/sim.h"
#include "taeda/io/atomic_file.h"
#include "taeda/log/summary_writer.h"
#include "taeda/log/table.h"
#include "taeda/vision/image_io.h"

namespace taeda::tool {

namespace {

using vision::datasets::FashionMNIST;

/// Runs what depends on the user's input only, and says so when it fails.
template <class F>
auto user_input(F&& fn) {
  try {
    return fn();
  } catch (const Error& e) {
    throw UsageError(e.message());
  } catch (const std::exception& e) {
    throw UsageError(e.what());
  }
}

void check_options(const TrainOptions& o) {
  const auto check = [](bool good, const char* flag, const char* rule, auto value) {
    if (!good) throw UsageError(taeda::detail::concat(flag, " must be ", rule, ", got ", value));
  };
  check(o.epochs > 0, "--epochs", "positive", o.epochs);
  check(o.batch_size > 0, "--batch-size", "positive", o.batch_size);
  check(o.lr > 0 && o.lr < 1e6, "--lr", "positive", o.lr);
  check(o.seed >= 0, "--seed", "0 or more", o.seed);
  check(o.workers >= 0 && o.workers <= 256, "--workers", "from 0 to 256", o.workers);
  check(o.threads >= 0 && o.threads <= 4096, "--threads", "from 0 to 4096", o.threads);
}

/// The device of a name; "auto" is a GPU where there is one.
Device choose_device(const std::string& name) {
  if (name == "auto") return cuda::is_available() ? Device(kCUDA, 0) : Device(kCPU);
  const Device device = resolve(Device(name));
  if (!device.is_cpu()) set_device(device);
  return device;
}

/// Makes the folder, and makes sure that files can be written there, before hours of training.
void prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder))
    throw UsageError(
        taeda::detail::concat("cannot make the output folder ", folder, ": ", error.message()));
  io::AtomicFile probe(folder + "/result.json");
}

}  // namespace

int run_train_fashion_mnist(const TrainOptions& options) {
  check_options(options);
  if (options.threads > 0) set_num_threads(static_cast<int>(options.threads));
  const Device device = user_input([&] { return choose_device(options.device); });
  const auto train_set = user_input([&] { return FashionMNIST(options.data, true); });
  const auto test_set = user_input([&] { return FashionMNIST(options.data, false); });
  user_input([&] { prepare_folder(options.out); });
  train_fashion_mnist(options, device, train_set, test_set);
  return 0;
}

int run_devices() {
  logging::Table table({"device", "name", "memory"});
  table.row({"cpu", std::to_string(get_num_threads()) + " threads", ""});
  for (DeviceType type : {kCUDA, kSim})
    for (int i = 0; i < device_count(type); ++i) {
      const DeviceProperties p = accelerator::get_device_properties(type, i);
      table.row({Device(type, i).str(), p.name,
                 logging::fixed(static_cast<double>(p.total_memory) / (1 << 30), 1) + " GiB"});
    }
  std::cout << table.str();
  if (!cuda::is_available()) std::cout << "no cuda device: " << cuda::unavailable_reason() << "\n";
  return 0;
}

int run_info() {
  logging::Table table({"taeda", TAEDA_VERSION});
  table.row({"compiler", __VERSION__});
  table.row({"threads", std::to_string(get_num_threads())});
  table.row({"cuda devices", std::to_string(device_count(kCUDA))});
  table.row({"simulated devices", std::to_string(device_count(kSim))});
  table.row({"PNG files", vision::has_png() ? "yes" : "no"});
  table.row({"JPEG files", vision::has_jpeg() ? "yes" : "no"});
  table.row({"TensorBoard files", logging::has_tensorboard() ? "yes" : "no"});
  std::cout << table.str();
  return 0;
}

}  // namespace taeda::tool
