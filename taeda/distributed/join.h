// Loops over batches of which ranks have different numbers: torch.distributed.algorithms.Join.
//
//     join({*model, optimizer}, [&] {
//       for (auto& batch : loader) ...
//     });
//
// Note [Turns]
// What ranks exchange in a step - buffers and gradients, or parameters after an update - begins
// with a turn: every rank tells all others whether its loop is over and, where it is not, what it
// is about to do. A rank whose loop is over goes on taking turns, and does in each what the others
// need of it, until nobody has a batch. So it need not know what a step is made of: steps that
// accumulate, are left out or evaluate in between are other turns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed {

/// What becomes of ranks that have no more batches; the defaults are those of PyTorch's Join.
struct JoinOptions {
  /// Gradients are divided by the number of all ranks, or of those that still had a batch.
  bool divide_by_initial_world_size = true;
  bool enable = true;
  /// Has all ranks throw Error when the first one ends.
  bool throw_on_early_termination = false;
};

/// What all ranks know of a turn, lists with an element for each rank of the group.
struct JoinTurn {
  std::vector<uint8_t> active;  ///< by rank in the group: 1 where it has a batch
  int flags = 0;                ///< what the active ranks say of their work

  int count() const;
  /// The highest rank that has a batch.
  int last() const;
};

class JoinContext;

/// What can take part in a join: something that all ranks of a group do together.
class Joinable {
 public:
  virtual ~Joinable() = default;

 protected:
  /// Flags are below.
  static constexpr int kFlags = 4;

  /// Called before this object exchanges anything, on a rank that has a batch: what all ranks know
  /// then. Nothing where no join is under way.
  std::optional<JoinTurn> take_turn(int flags = 0);

  virtual const ProcessGroupPtr& join_group() const = 0;
  /// Where numbers for the group are.
  virtual Device join_device() const = 0;
  /// For errors.
  virtual std::string join_name() const = 0;
  virtual void enter_join(const JoinOptions&) {}
  /// On a rank whose loop is over: what the others' work in this turn needs of it.
  virtual void stand_in(const JoinTurn& turn) = 0;
  /// When all loops are over: `root` is a rank that was among the last.
  virtual void end_join(int /*root*/) {}
  /// Last of all, also after an error.
  virtual void leave_join() {}

 private:
  friend class JoinContext;
  JoinContext* join_ = nullptr;  ///< under way
};

/// Runs a loop over batches of which ranks may have different numbers. A rank whose loop is over
/// does what the others' steps need of it until all are done: gradients count as zero there, and it
/// updates and sends the parameters whose state it keeps. `joinables` are all that exchange
/// something in the loop, the same on all ranks in the same order. Throws ValueError for none, or
/// of several groups; Error where ranks do different things.
void join(const std::vector<std::reference_wrapper<Joinable>>& joinables,
          const std::function<void()>& loop, const JoinOptions& options = {},
          SourceLocation site = SourceLocation::current());

}  // namespace taeda::inline v0_2::distributed

/// torch.distributed.algorithms.
namespace taeda::inline v0_2::distributed::algorithms {
using distributed::join;
using distributed::Joinable;
}  // namespace taeda::inline v0_2::distributed::algorithms
