// Thread-local switches of gradient recording. They live beside the tensor because views remember
// the mode in which they were made. They are `constinit` where they are declared, so that a reader
// knows that there is nothing to make first.
#pragma once

namespace taeda::inline v0_2 {

/// Whether operations record a graph on this thread. True at the start of every thread.
struct GradMode {
  /// Of the calling thread.
  static bool is_enabled() { return enabled_; }
  static void set_enabled(bool on) { enabled_ = on; }

 private:
  static constinit thread_local bool enabled_ __attribute__((tls_model("initial-exec")));
};

/// Whether this thread makes inference tensors: no graph, no versions, for the least overhead.
struct InferenceMode {
  /// Of the calling thread.
  static bool is_enabled() { return enabled_; }

  /// Enters (or with `false` leaves) inference mode for a scope.
  explicit InferenceMode(bool on = true) : previous_(enabled_), grad_(GradMode::is_enabled()) {
    enabled_ = on;
    GradMode::set_enabled(!on);
  }
  ~InferenceMode() {
    enabled_ = previous_;
    GradMode::set_enabled(grad_);
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

 private:
  static constinit thread_local bool enabled_ __attribute__((tls_model("initial-exec")));
  bool previous_, grad_;
};

/// Whether this thread runs a forward a second time: what counts calls, like the running statistics
/// of batch norm, then does not. nn/checkpoint.h has the guard.
struct RecomputeMode {
  /// Of the calling thread.
  static bool is_enabled() { return enabled_; }
  static void set_enabled(bool on) { enabled_ = on; }

 private:
  static constinit thread_local bool enabled_ __attribute__((tls_model("initial-exec")));
};

/// This thread's hooks on saved tensors, which autograd/graph.h sets and reads; nullptr: none. Here
/// because they go from thread to thread with the modes.
struct SavedHooksMode {
  /// Of the calling thread; null where there are none.
  static void* innermost() { return innermost_; }
  static void set_innermost(void* hooks) { innermost_ = hooks; }

 private:
  static constinit thread_local void* innermost_ __attribute__((tls_model("initial-exec")));
};

/// Sets gradient recording for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) : previous_(GradMode::is_enabled()) { GradMode::set_enabled(on); }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

/// torch.no_grad() for a scope.
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};

}  // namespace taeda
