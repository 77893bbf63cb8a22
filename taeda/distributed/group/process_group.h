// Processes that exchange tensors. Programs mostly use the functions of collectives.h, which take
// ranks of the world; here, ranks are those of the group.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/distributed/group/staging.h"
#include "taeda/distributed/group/work.h"

namespace taeda::inline v0_2::distributed {

class GroupCore;

/// How long an operation may take by default: 30 minutes, as PyTorch has it for Gloo.
inline constexpr std::chrono::milliseconds kProcessGroupTimeout = std::chrono::minutes(30);

/// Tags of messages must lie below this number.
inline constexpr int64_t kMaxTag = int64_t{1} << 28;

/// A group and this process's place in it.
///
/// Collectives run in the order in which they are called, which must be the same on all ranks;
/// messages (`send`, `recv`) run beside them. Without `async` a call returns when this rank's part
/// is done; with it, at once. Tensors may have any strides, dtype and size, on the CPU or an
/// accelerator; what is written to them is no part of any graph. Results have the same bits on all
/// ranks, every time. Errors are DistributedError and name rank and operation; after one the group
/// is of no use.
class ProcessGroup {
 public:
  struct Options {
    std::chrono::milliseconds timeout = kProcessGroupTimeout;
    std::string name = "world";
    std::vector<int> ranks = {};  ///< of the members in the world; by default 0, 1, ...
    /// Until when all must have joined; without a value, `timeout` from the call on.
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
  };
  struct CallOptions {
    bool async = false;
    SourceLocation site = SourceLocation::current();
  };

  /// Joins a group of `size` processes, which all call this with the same `store`. Returns when all
  /// are there; throws DistributedError within `options.timeout`, and at once where two have the
  /// same rank or another size. `backend` is "gloo", "mpi" or "nccl"; the last, where
  /// simulated devices answer to "cuda", is Gloo.
  static std::shared_ptr<ProcessGroup> create(const std::string& backend, StorePtr store, int rank,
                                              int size, Options options);
  static std::shared_ptr<ProcessGroup> create(const std::string& backend, StorePtr store, int rank,
                                              int size) {
    return create(backend, std::move(store), rank, size, Options());
  }
  /// A group that this process is not in: rank() is -1, and operations on it throw Error.
  explicit ProcessGroup(std::string name);
  ~ProcessGroup();  ///< leaves
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  /// Ends the group, when all members have called it or after five seconds. Operations under way
  /// fail.
  void leave();

  /// Whether this process made it; a copy of that one (fork) cannot use it.
  bool is_own() const;
  /// Throws DistributedError, with `op` as its subject, where it is not.
  void check_own(const char* op) const;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  bool is_member() const { return rank_ >= 0; }
  const std::string& name() const { return name_; }
  const std::string& backend() const { return backend_; }
  /// The members' ranks in the world.
  const std::vector<int>& ranks() const { return ranks_; }
  /// How long an operation may take by default.
  std::chrono::milliseconds timeout() const;
  /// Why the group is of no use any more; empty while it is.
  std::string failure() const;

  /// What the functions of collectives.h call.
  WorkPtr broadcast(const Tensor& data, int root, CallOptions options);
  WorkPtr all_reduce(const Tensor& data, ReduceOp op, CallOptions options);
  WorkPtr reduce(const Tensor& data, int root, ReduceOp op, CallOptions options);
  /// `outputs[r]` becomes the input of rank r; shapes and dtypes must be the same everywhere.
  WorkPtr all_gather(const std::vector<Tensor>& outputs, const Tensor& input, CallOptions options);
  /// Gathers the inputs one after the other, or stacked: the output's first size is as many times
  /// the input's, or the number of ranks.
  WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input, CallOptions options);
  /// `outputs` is empty but on the root, as `inputs` of scatter is.
  WorkPtr gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                 CallOptions options);
  WorkPtr scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                  CallOptions options);
  WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs, ReduceOp op,
                         CallOptions options);
  WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp op,
                                CallOptions options);
  WorkPtr all_to_all(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                     CallOptions options);
  /// Splits along the first dimension; equal ones where none are given.
  WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                            std::vector<int64_t> output_splits, std::vector<int64_t> input_splits,
                            CallOptions options);
  WorkPtr barrier(CallOptions options);
  /// A barrier through the store: rank 0 says which ranks do not come within `timeout`, only the
  /// first of them unless `wait_all_ranks`.
  void monitored_barrier(std::chrono::milliseconds timeout, bool wait_all_ranks,
                         SourceLocation site);

  /// To rank `to` of the group; `tag` tells messages between two ranks apart.
  WorkPtr send(const Tensor& data, int to, int64_t tag, CallOptions options);
  /// From any rank where `from` is -1.
  WorkPtr recv(const Tensor& data, int from, int64_t tag, CallOptions options);

 private:
  ProcessGroup(std::string backend, std::shared_ptr<GroupCore> core);

  std::shared_ptr<Staging> stage(std::vector<Tensor> tensors, Staging::Use use,
                                 bool apart = false) const;
  enum class InPlace : uint8_t { Neither, Input, Output };
  std::shared_ptr<Staging> stage_input(const std::vector<Tensor>& inputs,
                                       const std::vector<Tensor>& outputs,
                                       InPlace in_place = InPlace::Neither) const;
  Fingerprint what(const char* op, const Tensor& t, const CallOptions& options) const;
  WorkPtr reduce_scatter_parts(const char* op, const Tensor& output,
                               const std::vector<Tensor>& inputs, ReduceOp how,
                               const CallOptions& options);
  WorkPtr all_gather_parts(const char* op, const std::vector<Tensor>& outputs, const Tensor& input,
                           const CallOptions& options);
  WorkPtr exchange(Fingerprint what, const std::vector<Tensor>& outputs,
                   std::vector<int64_t> output_counts, const std::vector<Tensor>& inputs,
                   std::vector<int64_t> input_counts, bool async);
  WorkPtr message(const char* op, Fingerprint::Kind kind, const Tensor& data, int peer, int64_t tag,
                  const CallOptions& options);
  int world_rank(int rank) const { return ranks_.at(static_cast<size_t>(rank)); }

  std::string name_, backend_;
  int rank_ = -1;
  std::vector<int> ranks_;
  std::shared_ptr<GroupCore> core_;
  int64_t monitored_ = 0;
};

/// Where a function takes one and gets null, the default group is meant.
using ProcessGroupPtr = std::shared_ptr<ProcessGroup>;

}  // namespace taeda::inline v0_2::distributed
