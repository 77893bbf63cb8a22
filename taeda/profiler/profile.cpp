#include "taeda/profiler/profile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/device/accelerator.h"

namespace taeda::inline v0_2::profiler {

namespace {

bool records(ProfilerAction a) {
  return a == ProfilerAction::RECORD || a == ProfilerAction::RECORD_AND_SAVE;
}

/// The program's file name.
std::string program_name() {
  std::string name;
  std::ifstream("/proc/self/comm") >> name;
  return name.empty() ? "taeda" : name;
}

}  // namespace

Schedule schedule(int64_t wait, int64_t warmup, int64_t active, int64_t repeat,
                  int64_t skip_first) {
  TAEDA_CHECK_VALUE(wait >= 0 && warmup >= 0 && active > 0 && repeat >= 0 && skip_first >= 0,
                    "Invalid profiler schedule arguments: wait=", wait, ", warmup=", warmup,
                    ", active=", active, ", repeat=", repeat, ", skip_first=", skip_first);
  return [=](int64_t step) {
    step -= skip_first;
    const int64_t cycle = wait + warmup + active;
    if (step < 0 || (repeat > 0 && step / cycle >= repeat)) return ProfilerAction::NONE;
    const int64_t place = step % cycle;
    if (place < wait) return ProfilerAction::NONE;
    if (place < wait + warmup) return ProfilerAction::WARMUP;
    return place < cycle - 1 ? ProfilerAction::RECORD : ProfilerAction::RECORD_AND_SAVE;
  };
}

profile::profile(ProfileOptions options) : options_(std::move(options)) {
  TAEDA_CHECK_VALUE(!options_.activities.empty(), "profile: no activity is to be recorded");
  start();
}

profile::~profile() {
  try {
    stop();
  } catch (const std::exception& e) {
    taeda::detail::warn_aside(WarningKind::Runtime, std::string("profile: ") + e.what());
  }
}

bool profile::has(ProfilerActivity activity) const {
  return std::find(options_.activities.begin(), options_.activities.end(), activity) !=
         options_.activities.end();
}

ProfilerAction profile::action_of(int64_t step) const {
  return options_.schedule ? options_.schedule(step) : ProfilerAction::RECORD;
}

void profile::start() {
  if (started_) return;
  step_ = 0;
  const ProfilerAction first = action_of(0);
  change(ProfilerAction::NONE, first, false);
  started_ = true;
  action_ = first;
  if (options_.schedule) step_range_.emplace("ProfilerStep#0");
}

void profile::step() {
  if (!started_) return;
  step_range_.reset();
  const ProfilerAction next = action_of(++step_);
  const ProfilerAction before = std::exchange(action_, next);
  change(before, next, false);
  if (options_.schedule) step_range_.emplace("ProfilerStep#" + std::to_string(step_));
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void profile::stop() {
  if (!started_) return;
  started_ = false;
  step_range_.reset();
  change(std::exchange(action_, ProfilerAction::NONE), ProfilerAction::NONE, true);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// From one step's action to the next one's; `last`: there is no next.
void profile::change(ProfilerAction from, ProfilerAction to, bool last) {
  const bool complete = from == ProfilerAction::RECORD_AND_SAVE || (last && records(from));
  if (complete || (records(from) && !records(to))) {
    finish();
    if (complete && options_.on_trace_ready) options_.on_trace_ready(*this);
  }
  if (recording_ && !records(from) && to != ProfilerAction::WARMUP) discard();
  if (to != ProfilerAction::NONE && !recording_) begin();
}

void profile::begin() {
  uint32_t what = 0;
  if (has(ProfilerActivity::CPU)) what |= tracing::kSpans;
  if (has(ProfilerActivity::CPU) && options_.with_modules) what |= tracing::kModules;
  if (has(ProfilerActivity::CPU) && options_.record_shapes) what |= tracing::kShapes;
  if (has(ProfilerActivity::CUDA)) what |= tracing::kDeviceWork;
  if (options_.profile_memory) what |= tracing::kMemory;
  if (has(ProfilerActivity::CUDA)) accelerator::preferred_type();  // a plug-in brings its tracer
  TAEDA_CHECK(tracing::start(what, options_.max_events),
              "Profiler is already enabled: another profile is recording in this process. Stop it "
              "first; profiles cannot be nested.");
  recording_ = true;
  notes_.clear();
  tracing::DeviceTracer* tracer = has(ProfilerActivity::CUDA) ? tracing::device_tracer() : nullptr;
  if (!tracer) return;
  const std::string reason = tracer->start();
  traces_device_ = reason.empty();
  tracing::announce_operations(traces_device_);
  if (!traces_device_) notes_.push_back("CUDA times are missing: " + reason);
}

void profile::discard() {
  tracing::announce_operations(false);
  if (std::exchange(traces_device_, false)) tracing::device_tracer()->stop();
  tracing::stop();
  recording_ = false;
}

void profile::finish() {
  for (const Device& d : tracing::devices_with_work()) {
    try {
      synchronize(d);
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  tracing::announce_operations(false);
  std::vector<tracing::Record> work;
  uint64_t dropped = 0;
  if (std::exchange(traces_device_, false)) {
    work = tracing::device_tracer()->stop();
    dropped = tracing::device_tracer()->dropped();
  }
  tracing::Recording recording = tracing::stop();
  recording_ = false;
  recording.dropped += dropped;
  if (!work.empty()) recording.threads.push_back({0, std::move(work)});
  events_ = arrange(recording);
}

EventAverages profile::key_averages(bool group_by_input_shape) const {
  return EventAverages(events_, group_by_input_shape, options_.profile_memory, notes_);
}

void profile::export_chrome_trace(const std::string& path) const {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << chrome_trace(events_, program_name());
  file.close();
  TAEDA_CHECK(file, "cannot write ", path, ": ", std::strerror(errno ? errno : EIO));
}

std::function<void(profile&)> tensorboard_trace_handler(std::string folder,
                                                        std::string worker_name) {
  if (worker_name.empty()) worker_name = "worker";
  return [folder = std::move(folder), name = std::move(worker_name)](profile& p) {
    std::error_code ignored;  // what went wrong shows when the file is opened
    std::filesystem::create_directories(folder, ignored);
    p.export_chrome_trace(folder + "/" + name + "." + std::to_string(p.step_num()) +
                          ".pt.trace.json");
  };
}

}  // namespace taeda::profiler
