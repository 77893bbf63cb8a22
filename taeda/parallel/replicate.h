// Copies of a module on several devices.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/nn/holder.h"
#include "taeda/parallel/values.h"

namespace taeda::inline v0_2::nn::parallel {

/// Copies of one module, kept for many forward passes.
///
/// Note [Replicas]
/// A replica is a clone. Before every forward pass it is brought in step with the original: the
/// values of all parameters and buffers are copied into the memory that it has, in buckets
/// (values.h). They are copied whether or not somebody says that they have changed: nothing tells
/// of a write through `data_ptr()`, or of one by a replayed graph, which may run after this pass
/// was queued; and a training step changes them all. A replica on the original's device shares its
/// memory: it costs none, and what it writes into its buffers (the statistics of batch norm) the
/// original has. What other replicas write into theirs is overwritten by the next pass.
///
/// Where a module's own members have changed (a counter, an option), its replicas take them over.
/// Clones are made anew when the tree of modules or the parameters and buffers registered in it
/// have changed, or members of a module that has its own `clone()`. Members are compared by their
/// bytes; what a member keeps elsewhere (the elements of a vector) needs `forget()`.
///
/// While gradients are recorded a replica's parameters are results of the original's, so a backward
/// pass through the replicas ends in the original's gradients. Gradients travel in buckets, too, in
/// the order in which they came in the first backward pass: those of a module are a bucket until
/// then.
class Replicas {
 public:
  Replicas(std::shared_ptr<Module> original, std::vector<Device> devices);

  /// The first `n` replicas, in step with the original. Throws Error if a module cannot be cloned;
  /// what it throws otherwise (OutOfMemoryError) it throws with a line that names the device.
  const std::vector<std::shared_ptr<Module>>& follow(size_t n);
  /// The same for as many as `send_inputs` returns, which is called when those values are under way
  /// that the replicas need first: so the inputs do not hold them up, nor the other values them.
  const std::vector<std::shared_ptr<Module>>& follow(const std::function<size_t()>& send_inputs);
  /// Has the clones made anew at the next pass.
  void forget();
  std::mutex& mutex() { return mutex_; }

 private:
  struct Replica {
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<Tensor> tensors;  // each once
  };
  /// The original as it was when the clones were made.
  struct Snapshot {
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<std::string> members;  // their bytes, by module
    std::vector<Tensor> tensors;       // those that are registered, maybe undefined
    std::vector<size_t> owners;        // their modules
  };
  class Arrivals;
  struct GradientBucket {
    std::vector<size_t> members;
    std::shared_ptr<const FlatLayout> layout;
  };

  static Snapshot look_at(const std::shared_ptr<Module>& module);
  void look();
  bool take_over(const Snapshot& now);
  void warn_if_made_again(bool made);
  void make_clone();
  void match(size_t replica);
  void ready(size_t begin, size_t end);
  void assign_buckets(const std::vector<size_t>& wanted);
  bool buckets_fit(const std::vector<size_t>& wanted) const;
  void record_history(size_t n);

  std::shared_ptr<Module> original_;
  std::vector<Device> devices_;
  Snapshot seen_;
  std::vector<Replica> replicas_;
  std::vector<std::shared_ptr<Module>> clones_;
  std::vector<size_t> unique_;  // positions in Snapshot::tensors of the replicas' tensors
  Values values_;
  std::shared_ptr<Arrivals> arrivals_;
  std::vector<size_t> wanted_;  // the replicas' tensors that gradient_buckets_ was made for
  std::vector<GradientBucket> gradient_buckets_;
  bool ordered_ = false;  // gradient_buckets_ follow the order of arrival
  /// Of the gradients: for each device that on which they are put together, and behind these for
  /// each that on which they are added. Small ones do not queue behind large ones.
  std::vector<Stream> reduce_streams_[2];
  size_t used_ = 0;                 // replicas of the last pass
  bool made_in_last_pass_ = false;  // clones, because the module had changed
  bool warned_ = false;
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
