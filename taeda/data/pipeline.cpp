#include "taeda/data/pipeline.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/tensor/thread_state.h"

namespace taeda::inline v0_2::data {

struct Pipeline::Workers {
  std::condition_variable room, ready;
  std::vector<std::thread> threads;
};

Pipeline::Pipeline(Jobs& jobs, int workers, size_t window, double timeout)
    : jobs_(jobs),
      has_workers_(workers > 0),
      timeout_(workers > 0 ? timeout : 0),
      wake_room_(static_cast<int64_t>((window + 1) / 2)),
      slots_(window),
      workers_(std::make_unique<Workers>()) {
  workers_->threads.reserve(static_cast<size_t>(workers));
  for (int w = 0; w < workers; ++w) workers_->threads.emplace_back([this, w] { work(w); });
}

Pipeline::~Pipeline() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  workers_->room.notify_all();
  for (std::thread& t : workers_->threads) t.join();
}

/// Draws a job and does it, with the lock released meanwhile. False if there was none to draw. With
/// workers it is done in a new thread's state, whoever does it: the consumer may be in inference
/// mode, say, and which batches are left to it is a matter of timing. Without, it is the consumer's
/// own doing.
bool Pipeline::run_one(std::unique_lock<std::mutex>& lock, int worker) {
  std::optional<ThreadState::Scope> state;
  if (has_workers_) state.emplace(ThreadState{.num_threads = 1});
  const int64_t job = drawn_;
  const size_t index = static_cast<size_t>(job) % slots_.size();
  Slot& slot = slots_[index];
  drawing_ = true;
  lock.unlock();
  bool found = true;
  std::exception_ptr error;
  try {
    found = jobs_.draw(job, index);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  drawing_ = false;
  // A source that failed to say what comes next has lost its place: the epoch ends there.
  ended_ = ended_ || !found || error;
  if (found) {
    ++drawn_;
    slot.state = State::Working;
  }
  if (sleeping_ > 0 && (ended_ || can_draw())) workers_->room.notify_one();
  if (found && !error) {
    lock.unlock();
    try {
      jobs_.make(job, index, worker);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
  }
  if (found) {
    slot.error = error;
    slot.state = error ? State::Failed : State::Ready;
  }
  if (consumer_waits_ && (job == taken_ || ended_)) workers_->ready.notify_one();
  return found;
}

void Pipeline::work(int worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++sleeping_;
    workers_->room.wait(lock, [&] { return stop_ || ended_ || can_draw(); });
    --sleeping_;
    if (stop_ || ended_) {
      workers_->room.notify_one();
      return;
    }
    run_one(lock, worker);
  }
}

void Pipeline::wait_for_worker(std::unique_lock<std::mutex>& lock) {
  const Slot& slot = slots_[static_cast<size_t>(taken_) % slots_.size()];
  const auto done = [&] {
    return slot.state == State::Ready || slot.state == State::Failed ||
           (ended_ && taken_ >= drawn_) || (timeout_ == 0 && can_draw() && drawn_ == taken_);
  };
  consumer_waits_ = true;
  if (timeout_ == 0) {
    workers_->ready.wait(lock, done);
  } else {
    const bool in_time =
        workers_->ready.wait_for(lock, std::chrono::duration<double>(timeout_), done);
    consumer_waits_ = false;
    TAEDA_CHECK(in_time, "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                timeout_ * 1000, " ms)");
  }
  consumer_waits_ = false;
}

bool Pipeline::next(size_t* out) {
  std::unique_lock lock(mutex_);
  while (true) {
    const size_t index = static_cast<size_t>(taken_) % slots_.size();
    Slot& slot = slots_[index];
    if (slot.state == State::Ready) {
      *out = index;
      return true;
    }
    if (slot.state == State::Failed) {
      const std::exception_ptr error = slot.error;
      lock.unlock();
      release();
      std::rethrow_exception(error);
    }
    if (ended_ && taken_ >= drawn_) return false;
    // A consumer who outruns the workers reads the batch itself rather than wait for one to wake
    // up. Not under a timeout: nobody could interrupt it.
    if (drawn_ == taken_ && can_draw() && timeout_ == 0) {
      run_one(lock, -1);
    } else {
      wait_for_worker(lock);
    }
  }
}

void Pipeline::release() {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    Slot& slot = slots_[static_cast<size_t>(taken_) % slots_.size()];
    slot.state = State::Empty;
    slot.error = nullptr;
    ++taken_;
    const int64_t room = taken_ + static_cast<int64_t>(slots_.size()) - drawn_;
    wake = sleeping_ > 0 && !ended_ && room >= wake_room_;
  }
  if (wake) workers_->room.notify_one();
}

}  // namespace taeda::inline v0_2::data
