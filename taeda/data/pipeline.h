// Numbered jobs, done by worker threads a bounded distance ahead of a consumer who takes them in
// order.
//
// Invariant: jobs are drawn one at a time, in order; job j uses slot j % window, which is free
// because at most `window` jobs lie between the one the consumer holds next and the one drawn last.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace taeda::inline v0_2::data {

/// What a pipeline works on; the loader's epoch implements it, and it must outlive the pipeline.
class Jobs {
 public:
  virtual ~Jobs() = default;
  /// Prepares the input of the next job in `slot`; false when there is none. Never called twice at
  /// the same time.
  virtual bool draw(int64_t job, size_t slot) = 0;
  /// Does the job. Called at the same time for different slots; `worker` is -1 in the consumer.
  virtual void make(int64_t job, size_t slot, int worker) = 0;
};

/// Batches in order from worker threads, a bounded number of them ahead.
class Pipeline {
 public:
  /// Starts `workers` threads, which may be 0. `timeout` in seconds, 0 for none.
  Pipeline(Jobs& jobs, int workers, size_t window, double timeout);
  /// Stops early if need be: waits only for the jobs that are being done.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Waits for the next job in order and returns its slot in `slot`, or false at the end. The slot
  /// is the caller's until release(). An exception of the job is rethrown here, and the job
  /// skipped. Throws Error on timeout.
  bool next(size_t* slot);
  /// Gives the slot of the last next() back, so that another job may fill it; its batch must not be
  /// used afterwards.
  void release();
  /// Jobs that the caller is past: those that were released, and those that failed.
  int64_t taken() const {
    std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  struct Workers;  // threads, and what they and the consumer wait for
  enum class State : uint8_t { Empty, Working, Ready, Failed };
  struct Slot {
    State state = State::Empty;
    std::exception_ptr error;
  };

  bool can_draw() const {
    return !drawing_ && !ended_ && drawn_ < taken_ + static_cast<int64_t>(slots_.size());
  }
  bool run_one(std::unique_lock<std::mutex>& lock, int worker);
  void work(int worker);
  void wait_for_worker(std::unique_lock<std::mutex>& lock);

  Jobs& jobs_;
  const bool has_workers_;
  const double timeout_;
  /// Workers sleep when the window is full and are woken when half of it is free, so that a quick
  /// consumer costs one wake-up per half window instead of one per batch.
  const int64_t wake_room_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  int64_t drawn_ = 0, taken_ = 0;
  int sleeping_ = 0;
  bool consumer_waits_ = false, drawing_ = false, ended_ = false, stop_ = false;
  const std::unique_ptr<Workers> workers_;
};

}  // namespace taeda::data
