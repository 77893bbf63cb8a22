// Profiles: what a program's time and memory go into, as PyTorch's torch.profiler shows it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/tracing.h"
#include "taeda/profiler/events.h"

namespace taeda::inline v0_2::profiler {

/// What is recorded, by default both. CUDA stands for every accelerator, simulated ones included.
enum class ProfilerActivity { CPU, CUDA };

/// What a profile does in a step; by default it records.
enum class ProfilerAction {
  NONE,
  WARMUP,  ///< records, but forgets it, so its lists stay empty
  RECORD,
  RECORD_AND_SAVE  ///< the last step that is recorded, behind which `on_trace_ready` must follow
};

/// A function from the number of a step, at least 0, to what is done in it.
using Schedule = std::function<ProfilerAction(int64_t step)>;

/// Skips `skip_first` steps, then in turn idles for `wait` steps, warms up for `warmup` and records
/// for `active`; `repeat` times, 0 for ever. Throws ValueError unless wait, warmup and skip_first
/// are at least 0, repeat too, and active is at least 1.
Schedule schedule(int64_t wait, int64_t warmup, int64_t active, int64_t repeat = 0,
                  int64_t skip_first = 0);

/// Names a stretch of the program, from construction to the end of the scope, in profiles.
class record_function {
 public:
  explicit record_function(std::string name) : name_(std::move(name)) {
    if (tracing::wants(tracing::kSpans)) span_.enter(tracing::Kind::Range, name_.c_str());
  }
  record_function(const record_function&) = delete;
  record_function& operator=(const record_function&) = delete;

 private:
  const std::string name_;
  tracing::Span span_;
};

class profile;

/// Options of a profile; by default times of operations are recorded, and no shapes.
struct ProfileOptions {
  std::vector<ProfilerActivity> activities = {ProfilerActivity::CPU, ProfilerActivity::CUDA};
  /// What to do in which step; without one, the default, everything from start to stop is recorded.
  Schedule schedule = nullptr;
  /// Called with the profile when a recording is complete; empty by default.
  std::function<void(profile&)> on_trace_ready = nullptr;
  bool record_shapes = false;
  bool profile_memory = false;
  /// Whether calls of modules are recorded, by their path: "layer1.conv"; false by default.
  bool with_modules = false;
  /// Bound of the memory that a recording takes, about 120 bytes each. What comes after is counted.
  uint64_t max_events = uint64_t{1} << 20;
};

/// Records from its construction until `stop` or its end. One at a time in a process: a second one
/// throws Error. All threads are recorded.
///
///     profiler::profile prof({.record_shapes = true});
///     train();
///     prof.stop();
///     std::cout << prof.key_averages().table("self_cpu_time_total", 10);
///     prof.export_chrome_trace("trace.json");
class profile {
 public:
  explicit profile(ProfileOptions options = {});
  /// Stops. An error of a kernel that turns up then is a warning.
  ~profile();
  profile(const profile&) = delete;
  profile& operator=(const profile&) = delete;

  /// Begins again after `stop`; while the profile runs it does nothing.
  void start();
  /// Waits for the devices that were used and ends the recording. Throws what their kernels threw;
  /// the recording is complete nevertheless.
  void stop();
  /// The end of a step; the schedule says what happens in the next.
  void step();
  int64_t step_num() const { return step_; }

  /// The last complete recording; empty before there is one.
  const Events& events() const { return events_; }
  /// Sums by name, and with `group_by_input_shape` by the shapes of the tensors (record_shapes).
  EventAverages key_averages(bool group_by_input_shape = false) const;
  /// Writes the trace for chrome://tracing and Perfetto. Throws Error, naming path and reason.
  void export_chrome_trace(const std::string& path) const;
  /// Why something could not be recorded, one line each; empty if all was.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  ProfilerAction action_of(int64_t step) const;
  void change(ProfilerAction from, ProfilerAction to, bool last);
  void begin();
  void finish();
  void discard();
  bool has(ProfilerActivity activity) const;

  ProfileOptions options_;
  bool started_ = false;
  bool recording_ = false;
  bool traces_device_ = false;
  int64_t step_ = 0;
  ProfilerAction action_ = ProfilerAction::NONE;
  std::optional<record_function> step_range_;
  Events events_;
  std::vector<std::string> notes_;
  std::exception_ptr error_;
};

/// For `on_trace_ready`: writes each recording to `folder`/`worker_name`.<step>.pt.trace.json, as
/// TensorBoard's profiler plug-in expects it. The folder is made. Without a name it is "worker".
std::function<void(profile&)> tensorboard_trace_handler(std::string folder,
                                                        std::string worker_name = "");

}  // namespace taeda::profiler

namespace taeda::inline v0_2::autograd::profiler {
using taeda::profiler::record_function;
}
