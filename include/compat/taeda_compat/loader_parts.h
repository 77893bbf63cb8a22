// torch::data::detail: what libtorch's loader is made of, for programs with a loader of their own.
#pragma once

#include <taeda_compat/namespaces.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace taeda_compat::loader_parts {

/// Values that threads hand to each other, in order.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::scoped_lock lock(mutex_);
      values_.push_back(std::move(value));
    }
    filled_.notify_one();
  }
  /// Waits for a value. Throws Error when `timeout` is over.
  T pop(std::optional<std::chrono::milliseconds> timeout = {}) {
    std::unique_lock lock(mutex_);
    const auto has_value = [this] { return !values_.empty(); };
    if (timeout)
      TAEDA_CHECK(filled_.wait_for(lock, *timeout, has_value),
                  "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                  timeout->count(), " ms)");
    else
      filled_.wait(lock, has_value);
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  /// Forgets all values; gives how many there were.
  size_t clear() {
    const std::scoped_lock lock(mutex_);
    const size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<T> values_;
};

/// Takes jobs to the threads that do them, and results back. Jobs are given and results are taken
/// by one thread.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  /// Waits for a job; called by the threads that work.
  Job pop_job() { return jobs_.pop(); }
  void push_result(Result result) { results_.push(std::move(result)); }
  /// Waits for a result; nothing if no job is under way. Throws Error when `timeout` is over.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = {}) {
    if (in_flight_ == 0) return std::nullopt;
    std::optional<Result> result = results_.pop(timeout);
    --in_flight_;
    return result;
  }
  /// Forgets jobs that nobody has begun and waits for the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  /// Jobs that were given and whose results were not taken yet.
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_ = 0;
};

namespace sequencers {

/// Puts results into an order; each has a `sequence_number`.
template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  /// The next one; nothing at the end. `next_result` gives them as they come.
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// The order in which they come.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

/// The order of their numbers, from 0 on. At most `max_jobs` may be under way at once.
template <class Result>
struct OrderedSequencer : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : early_(max_jobs) {
    TAEDA_CHECK_VALUE(max_jobs > 0,
                      "OrderedSequencer: expected room for a job, but got max_jobs 0");
  }

  std::optional<Result> next(ResultProducer next_result) override {
    while (!slot(number_)) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      auto& place = slot(result->sequence_number);
      TAEDA_CHECK(!place, "OrderedSequencer: more than ", early_.size(), " results are waiting");
      place = std::move(result);
    }
    return std::exchange(slot(number_++), std::nullopt);
  }

 private:
  std::optional<Result>& slot(size_t number) { return early_[number % early_.size()]; }

  std::vector<std::optional<Result>> early_;
  size_t number_ = 0;
};

}  // namespace sequencers
}  // namespace taeda_compat::loader_parts
