// Training one model in several processes, as torch.nn.parallel.DistributedDataParallel.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/distributed/ddp/reducer.h"
#include "taeda/distributed/join.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/visit_tensors.h"
#include "taeda/parallel/data_parallel.h"

namespace taeda::inline v0_2::distributed {

/// Options of DistributedDataParallel, with the names and defaults of PyTorch's constructor.
struct DistributedDataParallelOptions {
  /// The one device that this process's module is on; inputs are moved there. None: inputs stay
  /// where they are, and the module may be on several devices.
  std::optional<std::vector<nn::parallel::DeviceId>> device_ids = {};
  /// whether rank 0's buffers go to all before each forward; the default
  bool broadcast_buffers = true;
  bool init_sync = true;  ///< whether modules must match and get rank 0's values; the default
  ProcessGroupPtr process_group = {};        ///< by default the default group
  std::optional<double> bucket_cap_mb = {};  ///< 25 MiB, the first 1 MiB, by default
  bool find_unused_parameters = false;
  /// whether gradients are views of buckets, which saves their bytes
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
};

/// What DistributedDataParallel does whatever the module's class.
class DistributedDataParallelBase : public nn::Module, public Joinable {
 public:
  /// While one lives, gradients are accumulated and not exchanged: a forward pass under it and its
  /// backward pass. The next pass without exchanges what has come together.
  class NoSync {
   public:
    explicit NoSync(DistributedDataParallelBase& module)
        : module_(module), previous_(std::exchange(module.synchronize_, false)) {}
    ~NoSync() { module_.synchronize_ = previous_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedDataParallelBase& module_;
    const bool previous_;
  };
  /// A guard: while it lives, gradients are accumulated and not exchanged. It must not outlive the
  /// module.
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }
  /// Has the next backward pass exchange gradients, though its forward pass was under no_sync: for
  /// pipelines, whose forward and backward passes do not alternate. Lasts until the next forward.
  void synchronize_next_backward();

  /// Exchanges buckets by `hook(state, bucket)` instead of averaging them. Throws Error if that was
  /// called before.
  template <class State, class Hook>
  void register_comm_hook(State state, Hook hook) {
    set_comm_hook([state = std::move(state), hook = std::move(hook)](GradBucket& bucket) {
      return hook(state, bucket);
    });
  }

  /// Runs a loop over batches of which ranks may have different numbers: distributed::join with
  /// this module alone. In the end all ranks get the values of one that was among the last.
  void join(const std::function<void()>& loop, const JoinOptions& options = {},
            SourceLocation site = SourceLocation::current());

  const ProcessGroupPtr& process_group() const { return group_; }
  std::optional<Device> device() const { return device_; }

 protected:
  DistributedDataParallelBase(std::shared_ptr<nn::Module> module,
                              const DistributedDataParallelOptions& options, SourceLocation site);
  void before_forward();
  void after_forward(const std::vector<Tensor>& outputs);

 private:
  /// What a turn's pass exchanges; added up.
  enum TurnFlags { kSendsBuffers = 1, kSynchronizes = 2 };
  const ProcessGroupPtr& join_group() const override { return group_; }
  Device join_device() const override { return exchange_device(); }
  std::string join_name() const override { return "DistributedDataParallel"; }
  void enter_join(const JoinOptions& options) override { joining_ = options; }
  void stand_in(const JoinTurn& turn) override;
  void end_join(int root) override;
  void leave_join() override;
  void divide_for(const JoinTurn& turn);

  void check_arguments(const DistributedDataParallelOptions& options) const;
  void set_comm_hook(CommHook hook);
  Device exchange_device() const;
  bool synchronizes() const;
  bool buffers_may_differ() const;

  const std::shared_ptr<nn::Module> wrapped_;
  const ProcessGroupPtr group_;
  const bool broadcast_buffers_;
  const SourceLocation site_;
  std::optional<Device> device_;
  std::unique_ptr<Reducer> reducer_;
  bool hooked_ = false, synchronize_ = true;
  bool synchronized_ = true;  ///< in the last forward: buffers have changed since they were sent
  JoinOptions joining_;       ///< of the join that is under way
};

/// A module whose gradients are averaged over the processes of a group while backward computes
/// them. Every process makes it of the same module and calls it with batches of its own, as many
/// as the others, in the same mode. Gradients are then what one process would get for all batches
/// together, if the loss is a mean and the batches have the same size; optimizers, which see the
/// same gradients everywhere, keep the parameters equal.
///
/// Parameters must not change their number, `requires_grad`, sizes or device afterwards. Hooks that
/// run after a gradient was accumulated see this process's one. A gradient is a part of its
/// bucket's memory.
template <class M>
class DistributedDataParallelImpl : public DistributedDataParallelBase {
 public:
  DistributedDataParallelImpl(std::shared_ptr<M> module,
                              const DistributedDataParallelOptions& options, SourceLocation site)
      : DistributedDataParallelBase(module, options, site), module_(std::move(module)) {}

  /// The module that was given.
  const std::shared_ptr<M>& module() const { return module_; }

  template <class... Args>
  auto forward(const Args&... args)
      -> std::decay_t<decltype(call(std::declval<M&>(),
                                    std::declval<const std::decay_t<Args>&>()...))> {
    before_forward();
    std::tuple<std::decay_t<Args>...> inputs(args...);
    if (device()) nn::detail::visit_tensors(inputs, [&](Tensor& t) { t = t.to(*device()); });
    auto out = nn::parallel::detail::call_with(*module_, inputs);
    std::vector<Tensor> outputs;
    nn::detail::visit_tensors(out, [&](const Tensor& t) { outputs.push_back(t); });
    after_forward(outputs);
    return out;
  }

 private:
  std::shared_ptr<M> module_;
};

/// Holder of a DistributedDataParallelImpl: `DistributedDataParallel ddp(net, {.device_ids = {0}})`
/// for a module `net`, which may be a holder or a shared pointer. Errors name the place where it
/// was made.
template <class M>
class DistributedDataParallel : public nn::ModuleHolder<DistributedDataParallelImpl<M>> {
 public:
  using Impl = DistributedDataParallelImpl<M>;
  using Options = DistributedDataParallelOptions;
  DistributedDataParallel(std::nullptr_t) : nn::ModuleHolder<Impl>(nullptr) {}
  explicit DistributedDataParallel(std::shared_ptr<M> module, const Options& options = {},
                                   SourceLocation site = SourceLocation::current())
      : nn::ModuleHolder<Impl>(std::make_shared<Impl>(std::move(module), options, site)) {}
  explicit DistributedDataParallel(const nn::ModuleHolder<M>& module, const Options& options = {},
                                   SourceLocation site = SourceLocation::current())
      : DistributedDataParallel(module.ptr(), options, site) {}
};

}  // namespace taeda::inline v0_2::distributed

namespace taeda::inline v0_2::nn::parallel {
using distributed::DistributedDataParallel;
using distributed::DistributedDataParallelOptions;
/// DistributedDataParallel by its old name for modules on the CPU, with the same defaults.
template <class M>
using DistributedDataParallelCPU = DistributedDataParallel<M>;
}  // namespace taeda::inline v0_2::nn::parallel
