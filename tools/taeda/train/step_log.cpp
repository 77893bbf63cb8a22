#include "tools/taeda/train/step_log.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "taeda/device/allocator.h"
#include "taeda/io/atomic_file.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

namespace {

constexpr const char* kStepColumns =
    "step,epoch,seconds,loss,gradient_norm,lr,scale,skipped,memory\n";

/// The lines of steps up to `done`, under the columns' names.
std::string lines_until(const std::string& path, int64_t done) {
  std::string out = kStepColumns;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path)) file.open(path);  // a pipe would be waited for
  for (std::string line; std::getline(file, line) && !file.eof();) {
    char* end = nullptr;
    const long long step = std::strtoll(line.c_str(), &end, 10);
    if (end != line.c_str() && *end == ',' && step <= done) out += line + "\n";
  }
  return out;
}

}  // namespace

StepLog::StepLog(const std::string& path, Device device, int64_t done, int64_t interval)
    : path_(path), device_(device), interval_(interval) {
  io::write_file(path, done > 0 ? lines_until(path, done) : kStepColumns);
  file_.reset(std::fopen(path.c_str(), "a"));
  TAEDA_CHECK(file_, "cannot write ", path, ": ", std::strerror(errno));
  allocator::reset_peak_memory_stats(device_);
}

void StepLog::add(int64_t step, int64_t epoch, double seconds, const training::StepReport& report) {
  line_.step = step;
  line_.epoch = epoch;
  line_.seconds = seconds;
  line_.loss += report.loss;
  ++line_.losses;
  // One that is not finite stays to be seen.
  if (!(report.grad_norm <= line_.grad_norm)) line_.grad_norm = report.grad_norm;
  line_.lr = report.lr;
  line_.scale = report.scale;
  line_.skipped += report.outcome == training::Outcome::Skipped;
  if (line_.losses >= interval_) flush();
}

void StepLog::flush() {
  if (line_.losses == 0) return;
  const auto number = [](double value) { return std::isfinite(value) ? exact_text(value) : ""; };
  const std::string text = taeda::detail::concat(
      line_.step, ',', line_.epoch, ',', number(line_.seconds), ',',
      number(line_.loss / static_cast<double>(line_.losses)), ',', number(line_.grad_norm), ',',
      number(line_.lr), ',', number(line_.scale), ',', line_.skipped, ',',
      allocator::memory_stats(device_).peak_allocated, '\n');
  const bool written = std::fputs(text.c_str(), file_.get()) >= 0 && !std::fflush(file_.get());
  TAEDA_CHECK(written, "cannot write ", path_, ": ", std::strerror(errno));
  allocator::reset_peak_memory_stats(device_);
  line_ = {};
}

}  // namespace taeda::tool
