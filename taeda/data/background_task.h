// Work on a thread of its own that somebody waits for.
#pragma once

#include <functional>
#include <memory>

namespace taeda::inline v0_2::data::detail {

/// As std::async's future of nothing, without <future>: that header alone would take as long to
/// compile as all of the standard library's that programs use.
class BackgroundTask {
 public:
  /// Begins `work`.
  explicit BackgroundTask(std::function<void()> work);
  BackgroundTask(BackgroundTask&&) noexcept;
  BackgroundTask& operator=(BackgroundTask&&) noexcept;
  /// Waits.
  ~BackgroundTask();

  /// Waits for the end of the work and throws what it threw. Called once.
  void get();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taeda::inline v0_2::data::detail
