#include "taeda/distributed/cluster/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "taeda/device/accelerator.h"
#include "taeda/device/allocator.h"
#include "taeda/distributed/cluster/monitor.h"
#include "taeda/distributed/group/work.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// Where reports go; -1 for nowhere.
int report_file() {
  static const int file = [] {
    const char* text = ::secure_getenv(cluster::kProgressFile);
    return text ? std::atoi(text) : -1;
  }();
  return file;
}

int64_t rank_here() {
  const char* text = std::getenv("RANK");
  return text ? std::atoll(text) : 0;
}

int64_t device_bytes() {
  int64_t out = 0;
  for (const Device& device : accelerator::devices())
    out += static_cast<int64_t>(allocator::memory_stats(device).allocated);
  return out;
}

int64_t micros(std::chrono::nanoseconds time) { return time / std::chrono::microseconds(1); }

}  // namespace

void report_progress(int64_t step, int64_t images) {
  const int file = report_file();
  if (file < 0) return;
  const std::string line =
      cluster::Report{.rank = rank_here(),
                      .step = step,
                      .images = images,
                      .host_bytes = cluster::resident_bytes(),
                      .device_bytes = device_bytes(),
                      .waited_us = micros(time_waited()),
                      .time_us = micros(std::chrono::steady_clock::now().time_since_epoch())}
          .line();
  // A line is shorter than what a pipe takes whole. One that finds it full is dropped, for the
  // launcher has made it a pipe that does not wait: the next one says more.
  if (::write(file, line.data(), line.size()) < 0) return;
}

}  // namespace taeda::inline v0_2::distributed
