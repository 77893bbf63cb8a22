// torch.distributed's functions: the default group, and what is exchanged in it or another one.
//
// Ranks are those of the world, also in smaller groups. Without a group the default one is meant.
// With `async_op` a function returns at once, and a Work to wait for; otherwise it returns when it
// is done, and a null pointer. So it does, without doing anything, where this process is not in the
// group.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed {

/// Where a collective was called from, by default the caller's line, for reports of ranks that
/// differ.
using Site = SourceLocation;

/// Options of init_process_group with PyTorch's defaults: the address and number of this process
/// come from the environment, and what is absent there is an Error.
struct InitOptions {
  std::string init_method = {};  ///< "env://" by default, "tcp://host:port", "file:///path"
  std::optional<std::chrono::milliseconds> timeout = {};
  int world_size = -1;
  int rank = -1;
  StorePtr store = {};  ///< instead of `init_method`; wants rank and world size
  std::string group_name = {};
};

/// Joins the default group; returns when all processes have. Throws Error if it exists already,
/// ValueError for arguments that do not fit, DistributedError when others do not come or disagree.
void init_process_group(const std::string& backend = "", const InitOptions& options = {});
/// Begins the default group from PyTorch's arguments in their order, which raises the same errors.
/// It is a template, so that braces mean options.
template <std::convertible_to<std::string> Text>
void init_process_group(const std::string& backend, const Text& init_method,
                        std::optional<std::chrono::milliseconds> timeout = {}, int world_size = -1,
                        int rank = -1, StorePtr store = {}, const std::string& group_name = "") {
  init_process_group(backend, InitOptions{.init_method = init_method,
                                          .timeout = timeout,
                                          .world_size = world_size,
                                          .rank = rank,
                                          .store = std::move(store),
                                          .group_name = group_name});
}
/// Leaves a group, or with none given all of them; waits for the others for up to five seconds.
void destroy_process_group(const ProcessGroupPtr& group = {});

/// Whether there is an engine for process groups, for Gloo, and whether the default group has
/// begun.
bool is_available();
bool is_gloo_available();
bool is_initialized();
/// The rank and the number of processes, both -1 where this process is not in the group, and the
/// engine's name. They throw before init_process_group.
int get_rank(const ProcessGroupPtr& group = {});
int get_world_size(const ProcessGroupPtr& group = {});
std::string get_backend(const ProcessGroupPtr& group = {});
/// Throws ValueError while there is none.
ProcessGroupPtr default_group();
/// Ranks of the world and of a group in one another. Throw ValueError for who is not in it.
int get_group_rank(const ProcessGroupPtr& group, int global_rank);
int get_global_rank(const ProcessGroupPtr& group, int group_rank);
std::vector<int> get_process_group_ranks(const ProcessGroupPtr& group = {});

/// A group of some processes (by default all), sorted by rank. Every process of the world calls
/// this, in the same order, also those that will not be in the group.
ProcessGroupPtr new_group(std::vector<int> ranks = {},
                          std::optional<std::chrono::milliseconds> timeout = {},
                          const std::string& backend = "");

/// As torch.distributed's: all members call them in the same order, with the same sizes and dtypes.
/// Returns null when it is done; with `async_op` the work, whose `wait()` must be called.
WorkPtr broadcast(const Tensor& tensor, int src, const ProcessGroupPtr& group = {},
                  bool async_op = false, Site site = Site::current());
WorkPtr all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                   const ProcessGroupPtr& group = {}, bool async_op = false,
                   Site site = Site::current());
WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
               const ProcessGroupPtr& group = {}, bool async_op = false,
               Site site = Site::current());
WorkPtr all_gather(const std::vector<Tensor>& tensor_list, const Tensor& tensor,
                   const ProcessGroupPtr& group = {}, bool async_op = false,
                   Site site = Site::current());
WorkPtr all_gather_into_tensor(const Tensor& output_tensor, const Tensor& input_tensor,
                               const ProcessGroupPtr& group = {}, bool async_op = false,
                               Site site = Site::current());
WorkPtr gather(const Tensor& tensor, const std::vector<Tensor>& gather_list = {}, int dst = 0,
               const ProcessGroupPtr& group = {}, bool async_op = false,
               Site site = Site::current());
WorkPtr scatter(const Tensor& tensor, const std::vector<Tensor>& scatter_list = {}, int src = 0,
                const ProcessGroupPtr& group = {}, bool async_op = false,
                Site site = Site::current());
WorkPtr reduce_scatter(const Tensor& output, const std::vector<Tensor>& input_list,
                       ReduceOp op = ReduceOp::SUM, const ProcessGroupPtr& group = {},
                       bool async_op = false, Site site = Site::current());
WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                              ReduceOp op = ReduceOp::SUM, const ProcessGroupPtr& group = {},
                              bool async_op = false, Site site = Site::current());
WorkPtr all_to_all(const std::vector<Tensor>& output_tensor_list,
                   const std::vector<Tensor>& input_tensor_list, const ProcessGroupPtr& group = {},
                   bool async_op = false, Site site = Site::current());
/// Rows of `input` go to the ranks in order, as many to each as `input_split_sizes` says; equal
/// parts without.
WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          std::vector<int64_t> output_split_sizes = {},
                          std::vector<int64_t> input_split_sizes = {},
                          const ProcessGroupPtr& group = {}, bool async_op = false,
                          Site site = Site::current());
WorkPtr barrier(const ProcessGroupPtr& group = {}, bool async_op = false,
                Site site = Site::current());
/// A barrier that names who does not come within `timeout` (by default the group's): the first, or
/// with `wait_all_ranks` all of them. For looking for faults: it goes through the store.
void monitored_barrier(const ProcessGroupPtr& group = {},
                       std::optional<std::chrono::milliseconds> timeout = {},
                       bool wait_all_ranks = false, Site site = Site::current());

/// A message meets the receive of the same tag, dtype and number of elements. Returns when it was
/// received.
void send(const Tensor& tensor, int dst, const ProcessGroupPtr& group = {}, int64_t tag = 0,
          Site site = Site::current());
/// Receives a tensor of the same shape and dtype from `src`, by default from any rank; returns the
/// rank that sent it.
int recv(const Tensor& tensor, std::optional<int> src = {}, const ProcessGroupPtr& group = {},
         int64_t tag = 0, Site site = Site::current());
WorkPtr isend(const Tensor& tensor, int dst, const ProcessGroupPtr& group = {}, int64_t tag = 0,
              Site site = Site::current());
WorkPtr irecv(const Tensor& tensor, std::optional<int> src = {}, const ProcessGroupPtr& group = {},
              int64_t tag = 0, Site site = Site::current());

/// One message of a batch.
/// The peer's rank is one of the group, and the tensors of both have one size in elements.
struct P2POp {
  enum Kind : uint8_t { Isend, Irecv };
  Kind op;
  Tensor tensor;
  int peer;
  ProcessGroupPtr group = {};
  int64_t tag = 0;
};
/// Starts all messages of the list, which must not be empty, and returns what to wait for.
std::vector<WorkPtr> batch_isend_irecv(const std::vector<P2POp>& p2p_op_list,
                                       Site site = Site::current());

}  // namespace taeda::inline v0_2::distributed
