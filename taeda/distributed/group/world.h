// The groups of this process.
#pragma once

#include <mutex>
#include <vector>

#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed {

/// The default group and those that new_group() made of it. Any thread may use it.
class World {
 public:
  /// The process's; never destroyed.
  static World& instance();

  void set_default(ProcessGroupPtr group, StorePtr store);
  /// Null while there is none.
  ProcessGroupPtr default_group() const;
  StorePtr store() const;
  /// Names for the next default group and the next other one: the same on all ranks, as long as
  /// they make their groups in the same order.
  std::string next_world();
  std::string next_group();
  void add(ProcessGroupPtr group);
  /// Forgets a group, or all for a null pointer, and returns what was forgotten, newest first.
  std::vector<ProcessGroupPtr> remove(const ProcessGroupPtr& group);

 private:
  mutable std::mutex mutex_;
  ProcessGroupPtr default_;
  StorePtr store_;
  std::vector<ProcessGroupPtr> others_;
  int64_t worlds_ = 0, groups_ = 0;
};

/// The place of `value` in `list`; -1 for none.
int index_of(const std::vector<int>& list, int value);

}  // namespace taeda::distributed
