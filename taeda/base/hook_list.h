// Lists of callbacks that may come and go while others are running.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

/// Names one registered hook, of whatever kind, on whatever object: no two that live have the same.
/// A plain number, as in programs written for libtorch.
using HookHandle = unsigned;

/// A handle that no other hook of the process has.
inline HookHandle new_hook_handle() {
  static std::atomic<HookHandle> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// Callbacks of one kind in the order in which they were added. Any method may be called from any
/// thread at any time: who runs the hooks has a snapshot that nobody changes, so a hook that is
/// removed meanwhile, by itself or by others, may still run once, and one that is added does not.
template <class Hook>
class HookList {
 public:
  struct Entry {
    HookHandle handle;
    Hook hook;
  };
  using Snapshot = std::shared_ptr<const std::vector<Entry>>;

  /// Throws ValueError, which names the `caller`, for an empty function.
  HookHandle add(Hook hook, const char* caller);
  /// False if there is no such hook.
  bool remove(HookHandle handle);
  /// Null when there are none.
  Snapshot snapshot() const;
  bool empty() const { return !any_.load(std::memory_order_acquire); }

 private:
  void set(Snapshot entries) {
    entries_ = std::move(entries);
    any_.store(entries_ != nullptr, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  Snapshot entries_;
};

template <class Hook>
HookHandle HookList<Hook>::add(Hook hook, const char* caller) {
  TAEDA_CHECK_VALUE(hook, caller, ": a hook must be something to call, but got an empty function");
  const HookHandle handle = new_hook_handle();
  std::lock_guard lock(mutex_);
  auto changed = entries_ ? std::make_shared<std::vector<Entry>>(*entries_)
                          : std::make_shared<std::vector<Entry>>();
  changed->push_back({handle, std::move(hook)});
  set(std::move(changed));
  return handle;
}

template <class Hook>
bool HookList<Hook>::remove(HookHandle handle) {
  Snapshot before;  // hooks are destroyed without the lock: what they hold may have hooks
  std::lock_guard lock(mutex_);
  if (!entries_) return false;
  const auto is_it = [handle](const Entry& e) { return e.handle == handle; };
  if (std::none_of(entries_->begin(), entries_->end(), is_it)) return false;
  auto changed = std::make_shared<std::vector<Entry>>();
  std::remove_copy_if(entries_->begin(), entries_->end(), std::back_inserter(*changed), is_it);
  before = entries_;
  set(changed->empty() ? nullptr : std::move(changed));
  return true;
}

template <class Hook>
typename HookList<Hook>::Snapshot HookList<Hook>::snapshot() const {
  if (!any_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace taeda::inline v0_2
