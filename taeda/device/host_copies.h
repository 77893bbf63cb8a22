// Non-blocking copies that use a block of host memory, and how the host waits for them.
//
// Note [Non-blocking copies]
// A copy that is only queued races with the host: it may read bytes that have not arrived, or
// change bytes that have not left. So the storage of the host's side keeps the place of the copy
// in its stream, and gives its address out (StorageImpl::data, behind every data_ptr, item, print
// and CPU kernel) only when the streams have got there. Copies that follow are ordered by events,
// without the host. What this cannot see is an address that was asked for before the copy began,
// and the copies that a replay of a graph makes. Memory that is freed meanwhile is the pinned
// allocator's business: it keeps the block.
//
// Note [Storages without memory]
// A tensor of another layout than strided has a storage that keeps its parts here, where copies
// would be, and has no memory. So `data` costs nothing more for all others, and whatever asks such
// a storage for its address - a kernel that does not know the layout - gets an error that says so.
//
// Memory of a device may wait for a stream in the same way (StorageImpl::use_after), only that the
// current stream of who asks for the address waits instead of the host.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "taeda/device/host_graph.h"
#include "taeda/device/storage.h"
#include "taeda/device/stream.h"
#include "taeda/device/strict_copies.h"

namespace taeda::inline v0_2::detail {

/// The copies of one storage, and what a device's waits for. Any method may be called from any
/// thread.
class HostCopies {
 public:
  /// Before a copy is queued: `stream` waits for those that this one must not overtake. Two that
  /// only read the host's bytes need no order.
  void order(const Stream& stream, bool writes_host);
  /// After it was queued.
  void add(const Stream& stream, bool writes_host);
  /// Returns when all are done. Throws Error in strict mode unless they are, and the errors of the
  /// device's work.
  void finish();
  /// Has streams that use the memory from now on wait for what `stream` has queued.
  void use_after(const Stream& stream);

  /// In the place of memory, if there is something.
  std::unique_ptr<StorageContent> content;
  /// Of memory that a capture of the CPU's work has allocated.
  std::unique_ptr<CapturedMemory> captured;

 private:
  void join_streams();

  struct Place {
    Stream stream;
    Event event;
    bool writes_host;
  };

  std::atomic<bool> pending_{false};
  std::mutex mutex_;
  std::vector<Place> places_;  ///< one for each stream and direction, recorded again

  /// What the memory of a device waits for, and the streams that do already.
  struct Use {
    Stream stream;
    Event event;
    std::vector<Stream> joined;
  };
  std::atomic<bool> used_{false};
  std::vector<Use> uses_;
};

}  // namespace taeda::inline v0_2::detail
