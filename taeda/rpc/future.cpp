#include "taeda/rpc/future.h"

#include <utility>

#include "taeda/base/error.h"
#include "taeda/rpc/pool.h"

namespace taeda::inline v0_2::distributed::rpc::detail {

bool FutureState::arrive(Make make_result) {
  std::unique_lock lock(mutex_);
  if (stage_ != Stage::Open) return false;
  make_ = std::move(make_result);
  stage_ = Stage::Arrived;
  if (waiting_ > 0) {
    changed_.notify_all();
  } else if (run_) {
    lock.unlock();
    run_([self = shared_from_this()] {
      std::unique_lock again(self->mutex_);
      if (self->stage_ == Stage::Arrived) self->make(again);
    });
  } else {
    make(lock);
  }
  return true;
}

bool FutureState::fail(std::exception_ptr error) {
  TAEDA_CHECK_VALUE(error, "set_exception: expected an exception, but got a null pointer");
  std::unique_lock lock(mutex_);
  if (stage_ != Stage::Open) return false;
  error_ = std::move(error);
  finish(lock);
  return true;
}

/// With the lock held, which is open when this returns.
void FutureState::make(std::unique_lock<std::mutex>& lock) {
  stage_ = Stage::Making;
  Made made;
  std::exception_ptr error;
  {
    const Make make = std::exchange(make_, {});
    lock.unlock();
    try {
      made = make();
    } catch (...) {
      error = std::current_exception();
    }
  }
  lock.lock();
  made_ = std::move(made);
  error_ = std::move(error);
  finish(lock);
}

void FutureState::finish(std::unique_lock<std::mutex>& lock) {
  stage_ = Stage::Done;
  const auto callbacks = std::exchange(callbacks_, {});
  changed_.notify_all();
  lock.unlock();
  for (const auto& f : callbacks) f();
}

bool FutureState::done() const {
  std::lock_guard lock(mutex_);
  return stage_ != Stage::Open;
}

bool FutureState::failed() const {
  std::lock_guard lock(mutex_);
  return error_ != nullptr;
}

void FutureState::wait() {
  std::unique_lock lock(mutex_);
  if (stage_ == Stage::Done) return;
  const Pool::Waiting elsewhere;
  ++waiting_;
  changed_.wait(lock, [&] { return stage_ == Stage::Arrived || stage_ == Stage::Done; });
  --waiting_;
  if (stage_ == Stage::Arrived) make(lock);
}

FutureState::Made FutureState::value() {
  wait();
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  return made_;
}

void FutureState::on_done(std::function<void()> f) {
  {
    std::lock_guard lock(mutex_);
    if (stage_ != Stage::Done) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  f();
}

}  // namespace taeda::inline v0_2::distributed::rpc::detail
