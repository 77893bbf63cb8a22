// Averages gradients over the ranks of a group while backward goes on.
//
// Note [Reducing while backward goes on]
// A parameter's gradient is known when it was accumulated. The gradients of a bucket's parameters
// are put together when the last of them has come, and their sum over the ranks is started: it
// travels while earlier layers' gradients are computed. Buckets are sent in one order on all ranks,
// so a bucket that is complete waits for those before it; the order is that in which rank 0's
// gradients came in the first pass. At the end of the pass the results are waited for. A gradient
// is then a part of its bucket (tensor/parts.h).
//
// A parameter that no gradient came for holds its bucket back. Which those are is known before
// where the graph is searched (`find_unused_parameters`) or stays the same (`static_graph`);
// otherwise they are counted as zero at the end. What their gradient becomes depends on the other
// ranks: the average if some rank had one, nothing if none had. That is told by one more element
// for each parameter at the end of the last bucket: a sum over ranks that only a rank with gaps
// reads.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/base/hook_list.h"
#include "taeda/base/ordered_dict.h"
#include "taeda/base/source_location.h"
#include "taeda/device/stream.h"
#include "taeda/distributed/ddp/grad_bucket.h"
#include "taeda/distributed/group/process_group.h"
#include "taeda/parallel/buckets.h"

namespace taeda::inline v0_2::distributed {

class Reducer {
 public:
  struct Options {
    nn::parallel::BucketLimits limits = nn::parallel::kGradientLimits;
    bool find_unused = false, static_graph = false, keep_buckets = false;
    SourceLocation site = SourceLocation::current();  ///< what errors name
  };
  /// Makes a reducer of these parameters, all of which must require gradients.
  Reducer(OrderedDict<std::string, Tensor> parameters, ProcessGroupPtr group, Options options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// What a forward pass led to. Gradients are exchanged by the backward passes that follow, or
  /// only accumulated.
  void after_forward(const std::vector<Tensor>& outputs, bool synchronize);
  /// Changes whether gradients are exchanged by the backward passes to come, true by default.
  void set_synchronize(bool on);
  /// Takes part, as a rank without a batch must, while others run backward: its gradients count as
  /// zero.
  void take_part_without_gradients();

  /// Sets what is called for each full bucket; by default it is the mean over all ranks.
  void set_comm_hook(CommHook hook);
  /// What sums are divided by; by default the number of ranks.
  void set_divisor(int divisor);
  size_t num_buckets() const;

 private:
  struct Bucket {
    std::vector<size_t> members;  ///< parameters
    nn::parallel::FlatLayout layout;
    Tensor flat;  ///< while its gradients are exchanged; always where buckets are kept
    size_t waiting = 0;
    bool placed = false;  ///< the gradients are parts of `flat`
    std::future<Tensor> result;
  };
  enum class State : uint8_t { Waiting, Arrived, Missing };
  struct PassToken {};

  bool exchanges() const { return group_->size() > 1 || comm_hook_; }
  void arrange(const std::vector<size_t>& order);
  void search(const std::vector<Tensor>& outputs);
  void on_gradient(size_t parameter);
  void begin_pass();
  void settle(size_t parameter, State state);
  void send(size_t number);
  void put_together(Bucket& bucket) const;
  std::vector<Tensor> gradients_of(const Bucket& bucket) const;
  bool is_in_place(const Bucket& bucket, size_t k) const;
  std::future<Tensor> exchange(size_t number);
  std::future<Tensor> average(const Tensor& flat, bool last) const;
  void tell_who_has_what();
  void place_gradients(Bucket& bucket, State which);

  void end_pass();
  std::string end_pass_locked();
  void finish_missing();
  void warn_of_missing();
  void receive(Bucket& bucket);
  void place_missing();
  void learn_from_first_pass();
  std::vector<size_t> common_order() const;
  Stream* stream_of(Device device);

  std::vector<std::string> names_;
  std::vector<Tensor> parameters_;
  const ProcessGroupPtr group_;
  const Options options_;
  const bool one_device_;
  std::vector<HookHandle> hooks_;
  std::vector<Stream> streams_;  ///< for communication, one for each accelerator

  mutable std::mutex mutex_;  ///< of all below: gradients of several devices come on threads
  CommHook comm_hook_;
  int divisor_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> bucket_of_;  ///< by parameter
  bool synchronize_ = true, first_pass_ = true, warned_ = false;
  std::vector<uint8_t> reached_;     ///< by graphs since the last pass; empty: not searched
  std::vector<uint8_t> never_used_;  ///< with a static graph, after the first pass

  // Of the pass that runs.
  std::weak_ptr<PassToken> pass_;  ///< alive while there is one
  std::vector<State> states_;      ///< by parameter
  std::vector<Stream> came_on_;    ///< likewise, on accelerators
  std::vector<size_t> order_;      ///< in which gradients came
  size_t next_ = 0;                ///< bucket to be sent
  bool shadow_ = false;            ///< there are no gradients here
  Tensor having_;                  ///< by parameter: not 0 where some rank has a gradient
  WorkPtr told_;           ///< exchange of `having_` where it does not travel with the last bucket
  std::string warning_;    ///< said when the lock is free
  std::string complaint_;  ///< what backward is to throw when all is exchanged
};

}  // namespace taeda::inline v0_2::distributed
