// A result that is on its way; torch.futures.Future.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <variant>
#include <vector>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace detail {

/// What all futures have in common. The result is made of an answer where it is needed: by a thread
/// that waits for it already, else by one of the pool.
class FutureState : public std::enable_shared_from_this<FutureState> {
 public:
  using Made = std::shared_ptr<void>;
  using Make = std::function<Made()>;
  using Run = std::function<void(std::function<void()>)>;

  /// `run` has a pool call something.
  explicit FutureState(Run run = {}) : run_(std::move(run)) {}

  /// Gives what makes the result, or the error; only the first counts, and returns true.
  bool arrive(Make make);
  bool fail(std::exception_ptr error);

  bool done() const;
  bool failed() const;
  void wait();
  /// Waits; rethrows the error.
  Made value();
  /// Calls `f` when the result is there, on whatever thread makes it; at once if it is.
  void on_done(std::function<void()> f);

 private:
  enum class Stage : uint8_t { Open, Arrived, Making, Done };
  void make(std::unique_lock<std::mutex>& lock);
  void finish(std::unique_lock<std::mutex>& lock);

  const Run run_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Stage stage_ = Stage::Open;
  size_t waiting_ = 0;
  Make make_;
  Made made_;
  std::exception_ptr error_;
  std::vector<std::function<void()>> callbacks_;
};

/// Throws ValueError for a function that is empty.
template <class F>
void check_callback(const F& f) {
  if constexpr (std::is_constructible_v<bool, const F&>)
    TAEDA_CHECK_VALUE(static_cast<bool>(f), "a Future's callback must be something to call");
}

}  // namespace detail

/// Copies share the result. Any thread may use it.
template <class T>
class Future {
 public:
  using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  /// One that set_result() or set_exception() completes.
  Future() : Future(std::make_shared<detail::FutureState>()) {}
  explicit Future(std::shared_ptr<detail::FutureState> state) : state_(std::move(state)) {
    TAEDA_CHECK_VALUE(state_, "a Future needs a state, but got a null pointer");
  }

  bool done() const { return state_->done(); }
  /// Waits for the result, and throws the error if there is one instead.
  T wait() const {
    if constexpr (std::is_void_v<T>)
      state_->value();
    else
      return stored();
  }
  T value() const { return wait(); }
  /// The same, also where there is no result.
  Stored stored() const {
    const auto made = state_->value();
    return *static_cast<const Stored*>(made.get());
  }

  /// Calls `f` with this future when it is done, on the thread that completes it, which it must not
  /// keep waiting.
  template <class F>
  void add_done_callback(F f) const {
    detail::check_callback(f);
    state_->on_done([f = std::move(f), self = *this]() mutable { f(self); });
  }
  /// The result of `f`, called with this future when it is done.
  template <class F>
  auto then(F f) const {
    using R = std::decay_t<std::invoke_result_t<F, const Future&>>;
    detail::check_callback(f);
    Future<R> out;
    add_done_callback([f = std::move(f), out](const Future& self) mutable {
      try {
        if constexpr (std::is_void_v<R>) {
          f(self);
          out.set_result({});
        } else {
          out.set_result(f(self));
        }
      } catch (...) {
        out.set_exception(std::current_exception());
      }
    });
    return out;
  }

  /// Complete it, with a value or with an error.
  void set_result(Stored value) const {
    state_->arrive([made = std::make_shared<Stored>(std::move(value))] { return made; });
  }
  void set_exception(std::exception_ptr error) const { state_->fail(std::move(error)); }

 private:
  std::shared_ptr<detail::FutureState> state_;
};

/// The results of all, in order; throws the first error in that order when all are done.
template <class T>
std::vector<typename Future<T>::Stored> wait_all(const std::vector<Future<T>>& futures) {
  for (const auto& future : futures) {
    try {
      future.wait();
    } catch (...) {  // thrown below, when all are done
    }
  }
  std::vector<typename Future<T>::Stored> out;
  for (const auto& future : futures) out.push_back(future.stored());
  return out;
}

}  // namespace taeda::inline v0_2::distributed::rpc
