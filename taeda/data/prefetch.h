// Batches that are on the device before they are asked for.
//
//     for (auto& batch : data::prefetch(loader, device)) {
//       loss = loss_fn(model(batch.data), batch.target);   // already there
//
// While the device works on one batch, the next ones are copied on a stream of their own, from
// pinned memory. Values and order are those of the loader. Everything happens on the calling
// thread: to read in parallel as well, give the loader workers (and, with `.pin_memory = true`,
// let them do the step into pinned memory).
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/data/collate.h"
#include "taeda/data/loader.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2::data {

namespace detail {

/// Moves the tensors of batches to one device, on the stream that prefetchers of the device share:
/// what the allocator keeps is kept by stream.
class BatchCopier {
 public:
  explicit BatchCopier(Device device);
  Device device() const { return stream_.device(); }
  const Stream& stream() const { return stream_; }

  /// Queues the copy and replaces the tensor by its result.
  void copy(Tensor& t) const;
  /// Reached when the copies so far are done.
  Event copied() const;
  /// The caller's current stream uses a copied tensor from now on.
  void hand_over(Tensor& t) const;

 private:
  Stream stream_;
};

}  // namespace detail

/// One pass of another epoch's batches, up to `depth`, at least 1, of them ahead of the one that
/// was handed out.
template <class Batch>
class PrefetchedEpoch final : public Epoch<Batch> {
 public:
  PrefetchedEpoch(std::shared_ptr<Epoch<Batch>> source, detail::BatchCopier copier, size_t depth)
      : source_(std::move(source)), copier_(std::move(copier)), depth_(depth) {}

  /// An exception of the loader, or of a copy, is thrown when its batch would have come.
  std::optional<Batch> next() override {
    read_ahead();
    if (ahead_.empty()) {
      done_ = true;
      return std::nullopt;
    }
    Entry entry = std::move(ahead_.front());
    ahead_.pop_front();
    if (entry.error) std::rethrow_exception(entry.error);
    current_stream(copier_.device()).wait_event(entry.copied);
    for_each_tensor(*entry.batch, [this](Tensor& t) { copier_.hand_over(t); });
    return std::move(entry.batch);
  }
  bool done() const override { return done_; }
  size_t position() const override { return source_->position() - ahead_.size(); }

 private:
  struct Entry {
    std::optional<Batch> batch;
    Event copied;
    std::exception_ptr error;
  };

  void read_ahead() {
    while (!ended_ && ahead_.size() <= depth_ && (ahead_.empty() || !ahead_.back().error)) {
      Entry entry;
      try {
        entry.batch = source_->next();
        if (entry.batch) {
          for_each_tensor(*entry.batch, [this](Tensor& t) { copier_.copy(t); });
          entry.copied = copier_.copied();
        }
      } catch (...) {
        entry.batch.reset();
        entry.error = std::current_exception();
      }
      ended_ = !entry.batch && !entry.error;
      if (!ended_) ahead_.push_back(std::move(entry));
    }
  }

  std::shared_ptr<Epoch<Batch>> source_;
  detail::BatchCopier copier_;
  size_t depth_;
  std::deque<Entry> ahead_;
  bool ended_ = false, done_ = false;
};

/// A loader whose batches arrive on a device. Refers to the loader, which must outlive it, and
/// whose state_dict() counts what was handed out here.
template <class Loader>
class DevicePrefetcher {
 public:
  using BatchType = typename Loader::BatchType;
  using Iterator = BatchIterator<BatchType>;

  DevicePrefetcher(Loader& loader, Device device, int64_t depth)
      : loader_(&loader), depth_(static_cast<size_t>(depth)) {
    TAEDA_CHECK_VALUE(depth >= 1, "prefetch: expected depth >= 1, got ", depth);
    if (!device.is_cpu()) copier_.emplace(device);
  }

  /// Starts a new epoch. Throws Error while an iterator of another one is in use.
  Iterator begin() { return Iterator(epoch()); }
  Iterator end() { return Iterator(); }
  std::shared_ptr<Epoch<BatchType>> epoch() {
    if (!copier_) return loader_->epoch();
    return loader_->epoch([this](auto source) {
      return std::make_shared<PrefetchedEpoch<BatchType>>(std::move(source), *copier_, depth_);
    });
  }
  size_t size() const { return loader_->size(); }
  /// The stream that the copies run on; on the CPU its only one, the default.
  Stream stream() const { return copier_ ? copier_->stream() : Stream(); }

 private:
  Loader* loader_;
  size_t depth_;
  std::optional<detail::BatchCopier> copier_;
};

/// The loader's batches on `device`, with up to `depth` of them copied or being copied ahead of the
/// one in use; that many batches of device memory are the price. On the CPU they are passed
/// through. Throws ValueError unless depth >= 1.
template <class Loader>
DevicePrefetcher<Loader> prefetch(Loader& loader, Device device, int64_t depth = 2) {
  return DevicePrefetcher<Loader>(loader, device, depth);
}

}  // namespace taeda::data
