#include "taeda/distributed/ddp/distributed_data_parallel.h"

#include <algorithm>
#include <set>

#include "taeda/distributed/ddp/module_state.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed {

namespace {

OrderedDict<std::string, Tensor> trained_parameters(const nn::Module& module) {
  OrderedDict<std::string, Tensor> out("Parameter");
  for (const auto& [name, p] : module.named_parameters())
    if (p.requires_grad()) out.insert(name, p);
  TAEDA_CHECK(!out.is_empty(),
              "DistributedDataParallel is not needed when a module doesn't have any parameters "
              "that require a gradient.");
  return out;
}

Reducer::Options reducer_options(const DistributedDataParallelOptions& options,
                                 SourceLocation site) {
  Reducer::Options out{.find_unused = options.find_unused_parameters,
                       .static_graph = options.static_graph,
                       .keep_buckets = options.gradient_as_bucket_view,
                       .site = site};
  if (options.bucket_cap_mb) {
    TAEDA_CHECK_VALUE(*options.bucket_cap_mb > 0,
                      "DistributedDataParallel: expected a positive bucket_cap_mb, got ",
                      *options.bucket_cap_mb);
    out.limits.others = static_cast<int64_t>(*options.bucket_cap_mb * (1 << 20));
    out.limits.first = std::min(out.limits.first, out.limits.others);
  }
  return out;
}

std::vector<Tensor> all_values(const nn::Module& module) {
  std::vector<Tensor> out = module.parameters();
  std::ranges::copy(module.buffers(), std::back_inserter(out));
  return out;
}

}  // namespace

DistributedDataParallelBase::DistributedDataParallelBase(
    std::shared_ptr<nn::Module> module, const DistributedDataParallelOptions& options,
    SourceLocation site)
    : nn::Module("DistributedDataParallel"),
      wrapped_(std::move(module)),
      group_(options.process_group ? options.process_group : default_group()),
      broadcast_buffers_(options.broadcast_buffers),
      site_(site) {
  register_module("module", wrapped_);
  const auto parameters = trained_parameters(*wrapped_);
  check_arguments(options);
  if (options.device_ids && !options.device_ids->empty())
    device_ = options.device_ids->front().on(parameters[0].value().device().type());
  const Reducer::Options how = reducer_options(options, site);
  if (options.init_sync) {
    check_same_module(*wrapped_, group_, exchange_device(), site_);
    broadcast_values(all_values(*wrapped_), 0, *group_, site_);
  }
  reducer_ = std::make_unique<Reducer>(parameters, group_, how);
}

void DistributedDataParallelBase::check_arguments(
    const DistributedDataParallelOptions& options) const {
  TAEDA_CHECK_VALUE(group_->is_member(),
                    "DistributedDataParallel: this process is not in the process group '",
                    group_->name(), "'");
  if (!options.device_ids || options.device_ids->empty()) return;
  TAEDA_CHECK_VALUE(options.device_ids->size() == 1,
                    "device_ids can only be None or contain a single element, got ",
                    options.device_ids->size());
  std::set<std::string> devices;
  for (const Tensor& p : wrapped_->parameters()) devices.insert(p.device().str());
  const Device first = wrapped_->parameters()[0].device();
  const auto expected = first.is_cpu() ? first : options.device_ids->front().on(first.type());
  std::string found;
  for (const std::string& d : devices) found += (found.empty() ? "" : ", ") + d;
  TAEDA_CHECK_VALUE(!first.is_cpu() && devices.size() == 1 && first == expected,
                    "DistributedDataParallel device_ids only work with a module on that one "
                    "accelerator: the parameters are on ",
                    found,
                    first.is_cpu() ? "; move the module before, or leave device_ids out"
                                   : ", device_ids says " + expected.str());
}

/// Where numbers for the group are.
Device DistributedDataParallelBase::exchange_device() const {
  return group_->backend() == "nccl" ? wrapped_->parameters()[0].device() : Device(kCPU);
}

void DistributedDataParallelBase::set_comm_hook(CommHook hook) {
  TAEDA_CHECK(!std::exchange(hooked_, true),
              "register_comm_hook or register_builtin_comm_hook can only be called once.");
  reducer_->set_comm_hook(std::move(hook));
}

void DistributedDataParallelBase::synchronize_next_backward() {
  synchronized_ = true;
  reducer_->set_synchronize(true);
}

/// Whether the pass that begins is one whose gradients are exchanged.
bool DistributedDataParallelBase::synchronizes() const {
  return GradMode::is_enabled() && synchronize_;
}

bool DistributedDataParallelBase::buffers_may_differ() const {
  return broadcast_buffers_ && synchronized_ && group_->size() > 1 && !wrapped_->buffers().empty();
}

void DistributedDataParallelBase::before_forward() {
  int root = 0;
  const int flags =
      (buffers_may_differ() ? kSendsBuffers : 0) + (synchronizes() ? kSynchronizes : 0);
  if (const auto turn = take_turn(flags)) {
    divide_for(*turn);
    root = turn->last();
  }
  if (buffers_may_differ()) broadcast_values(wrapped_->buffers(), root, *group_, site_);
}

void DistributedDataParallelBase::after_forward(const std::vector<Tensor>& outputs) {
  synchronized_ = synchronizes();
  if (GradMode::is_enabled()) reducer_->after_forward(outputs, synchronize_);
}

void DistributedDataParallelBase::join(const std::function<void()>& loop,
                                       const JoinOptions& options, SourceLocation site) {
  distributed::join({*this}, loop, options, site);
}

void DistributedDataParallelBase::divide_for(const JoinTurn& turn) {
  if (!joining_.divide_by_initial_world_size) reducer_->set_divisor(turn.count());
}

void DistributedDataParallelBase::stand_in(const JoinTurn& turn) {
  divide_for(turn);
  if (turn.flags & kSendsBuffers)
    broadcast_values(wrapped_->buffers(), turn.last(), *group_, site_);
  synchronized_ = turn.flags & kSynchronizes;
  if (synchronized_) reducer_->take_part_without_gradients();
}

void DistributedDataParallelBase::end_join(int root) {
  broadcast_values(all_values(*wrapped_), root, *group_, site_);
}

void DistributedDataParallelBase::leave_join() { reducer_->set_divisor(group_->size()); }

}  // namespace taeda::inline v0_2::distributed
