// How a group ends.
#include <utility>

#include "taeda/distributed/group/group_core.h"
#include "taeda/distributed/group/patience.h"

namespace taeda::inline v0_2::distributed {

using std::chrono::milliseconds;

/// Counts this rank under `key` and waits until all have come, at most so long or until `enough`.
void GroupCore::meet_at(const std::string& key, milliseconds patience,
                        const std::function<bool()>& enough) {
  const auto until = Clock::now() + patience;
  Backoff turns = Backoff::for_store();
  store_->add(key, 1);
  while (store_->add(key, 0) < members_.size() && Clock::now() < until && !enough()) {
    turns.sleep();
  }
}

/// What a stream has still to do would not be done any more.
void GroupCore::wait_until_queued_is_done() {
  std::unique_lock lock(mutex_);
  if (leaving_ || streams_.empty()) return;
  idle_.wait_for(lock, timeout(), [&] { return pending_.empty() || !failure_.empty(); });
}

void GroupCore::leave() {
  process_.check("destroy_process_group", "the process group '" + members_.name + "'");
  wait_until_queued_is_done();
  bool at_peace;
  {
    std::lock_guard lock(mutex_);
    if (leaving_) return;
    leaving_ = true;
    at_peace = failure_.empty() && pending_.empty();
  }
  if (at_peace)
    within(kLeavePatience, [self = shared_from_this()] {
      self->part();
      return true;
    });
  communicator_->abort();
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return pending_.empty(); });
}

/// Waits until the others leave, too, and takes away what is in the store. Who asks there how many
/// have left must find it, so those keys are the last one's.
void GroupCore::part() {
  const char* const left = "left";
  const char* const done = "done";
  publish(true);
  meet_at(left, kLeavePatience, [&] { return shared_failure().has_value(); });
  const bool all = store_->add(left, 0) >= members_.size();
  if (!all) return;
  store_->clear({left, done});
  if (store_->add(done, 1) < members_.size()) return;
  store_->delete_key(left);
  store_->delete_key(done);
}

}  // namespace taeda::inline v0_2::distributed
