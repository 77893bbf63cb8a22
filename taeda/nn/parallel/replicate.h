// Copies of a module on several devices.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/nn/pipe/lane.h"

namespace taeda::inline v0_2::nn::parallel {

/// Copies of one module, kept for many forward passes.
///
/// Note [Replicas]
/// A replica is a clone. Before every forward pass it is brought in step with the original: a
/// parameter or buffer is copied, into the memory that the replica has, if the original's storage
/// or version is another than at the last copy. So nothing is allocated in a training loop, and
/// nothing is copied between two passes without a change. Values go from replica to replica, each
/// tensor as soon as it has arrived, on streams of their own, so that a device sends everything
/// once. A kernel that uses a value waits until it has arrived and been sent on, and for no other.
/// A replica on the original's device shares its memory: it costs none, and what it writes into its
/// buffers (the statistics of batch norm) the original has. What other replicas write into theirs
/// is overwritten by the next pass.
///
/// Clones are made anew when the tree of modules, the parameters and buffers registered in it, or
/// a member of one of its modules has changed. Members are compared by their bytes; what a member
/// keeps elsewhere (the elements of a vector) needs `forget()`.
///
/// While gradients are recorded a replica's parameters are results of the original's, so a backward
/// pass through the replicas ends in the original's gradients.
class Replicas {
 public:
  Replicas(std::shared_ptr<Module> original, std::vector<Device> devices);

  /// The first `n` replicas, in step with the original. Throws Error if a module cannot be cloned;
  /// what it throws otherwise (OutOfMemoryError) it throws with a line that names the device.
  const std::vector<std::shared_ptr<Module>>& follow(size_t n);
  /// Brings in step what the replicas of the last pass need before anything else, the tensors of
  /// the first module that has any: to be called before the inputs are sent, so that these do not
  /// hold it up.
  void send_first();
  /// Has the clones made anew at the next pass.
  void forget();
  std::mutex& mutex() { return mutex_; }

 private:
  /// A tensor of a replica and what it was last copied from.
  struct Copy {
    size_t original;  // position in Snapshot::tensors
    Tensor own;
    Storage from;
    int64_t from_offset = 0, from_version = 0, own_version = 0;
  };
  struct Replica {
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<Copy> tensors;
  };
  /// The original as it was when the clones were made.
  struct Snapshot {
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<Tensor> tensors;
    size_t first_tensors = 0;  // how many of them the first module has that has any
    std::string members;
  };

  void look();
  static Snapshot look_at(const std::shared_ptr<Module>& module);
  bool is_as_before() const;
  void make_clone();
  void match(Replica& replica) const;
  std::vector<bool> prepare(size_t replica, size_t tensors);
  void update(size_t n, size_t tensors);
  void send(size_t tensor, size_t replica);
  const nn::detail::Lane* lane_to(size_t replica) const;
  Stream arrival_stream(size_t replica) const;
  void record_history(size_t n);

  std::shared_ptr<Module> original_;
  std::vector<Device> devices_;
  Snapshot seen_;
  std::vector<Replica> replicas_;
  std::vector<std::shared_ptr<Module>> clones_;
  std::vector<std::optional<nn::detail::Lane>> lanes_;  // to each replica from the one before it
  /// Of the gradients, one for each device; small ones do not queue behind large ones.
  std::vector<Stream> reduce_streams_[2];
  size_t used_ = 0;  // replicas of the last pass
  std::mutex mutex_;
};

/// A copy of the module for each device. Its parameters are results of the module's: gradients flow
/// back to it. A copy on the module's own device shares its memory.
/// Throws Error unless the class of every module derives from Cloneable.
template <class M>
std::vector<std::shared_ptr<M>> replicate(const std::shared_ptr<M>& module,
                                          const std::vector<Device>& devices) {
  TAEDA_CHECK(module, "replicate: expected a module, got nullptr");
  Replicas replicas(module, devices);
  std::vector<std::shared_ptr<M>> out;
  for (const std::shared_ptr<Module>& m : replicas.follow(devices.size()))
    out.push_back(std::dynamic_pointer_cast<M>(m));
  return out;
}
template <class M>
std::vector<ModuleHolder<M>> replicate(const ModuleHolder<M>& module,
                                       const std::vector<Device>& devices) {
  const auto copies = replicate(module.ptr(), devices);
  return {copies.begin(), copies.end()};
}

}  // namespace taeda::nn::parallel
