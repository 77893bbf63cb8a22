#include "taeda/distributed/group/process_group.h"

#include "taeda/base/error.h"
#include "taeda/distributed/group/checks.h"
#include "taeda/distributed/group/group_core.h"
#include "taeda/distributed/group/staging.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::distributed {

namespace {

using Use = Staging::Use;

/// A reduction, and what the engine leaves to be done before and after it.
struct Reduction {
  ReduceOp op;
  ReduceOp engine;  ///< what it is made of
  int size;

  Reduction(const Communicator& c, ReduceOp how, const Elements& data, int ranks)
      : op(how),
        engine(c.computes(how, data.dtype, data.device) ? how : made_of(how)),
        size(ranks) {}

  void before(const Tensor& data) const {
    if (op.kind == ReduceOp::PREMUL_SUM && engine.kind != op.kind) data.mul_(op.factor);
  }
  void after(const Tensor& sum) const {
    if (op.kind != ReduceOp::AVG || engine.kind == op.kind) return;
    if (is_integral(sum.dtype()))
      sum.div_(size, "trunc");
    else
      sum.div_(size);
  }

 private:
  static ReduceOp made_of(ReduceOp how) {
    const bool sum = how.kind == ReduceOp::AVG || how.kind == ReduceOp::PREMUL_SUM;
    return sum ? ReduceOp::SUM : how;
  }
};

}  // namespace

/// What can be captured: staged tensors, used by the thread that runs the operation.
std::shared_ptr<Staging> ProcessGroup::stage(std::vector<Tensor> tensors, Use use,
                                             bool apart) const {
  const bool stays = core_->queues_on(tensors.at(0).device());
  return std::make_shared<Staging>(std::move(tensors), use,
                                   stays ? Staging::Place::Device : Staging::Place::Host, apart);
}

/// Engines write outputs while they read inputs, so an input in the output's memory is copied
/// first. Lists are copied in any case. An engine that queues on a device takes its own rank's part
/// as it is; `in_place` says which side is the part.
std::shared_ptr<Staging> ProcessGroup::stage_input(const std::vector<Tensor>& inputs,
                                                   const std::vector<Tensor>& outputs,
                                                   InPlace in_place) const {
  const auto is_own_memory = [&](const std::vector<Tensor>& list) {
    return list.size() == 1 && list[0].is_contiguous() &&
           (list[0].is_cpu() || core_->queues_on(list[0].device()));
  };
  if (!is_own_memory(inputs) || !is_own_memory(outputs)) return stage(inputs, Use::In);
  const Tensor &in = inputs[0], &out = outputs[0];
  const bool own_part =
      core_->queues_on(in.device()) && ((in_place == InPlace::Input && is_part(in, out, rank_)) ||
                                        (in_place == InPlace::Output && is_part(out, in, rank_)));
  return stage(inputs, Use::In, !own_part && share_bytes(in, out));
}

ProcessGroup::ProcessGroup(std::string name) : name_(std::move(name)) {}

ProcessGroup::ProcessGroup(std::string backend, std::shared_ptr<GroupCore> core)
    : name_(core->members().name),
      backend_(std::move(backend)),
      rank_(core->members().rank),
      ranks_(core->members().ranks),
      core_(std::move(core)) {
  watch_over(core_);
}

/// A copy of the process that made it keeps what it cannot end.
ProcessGroup::~ProcessGroup() {
  if (is_own())
    leave();
  else
    new std::shared_ptr<GroupCore>(std::move(core_));
}

bool ProcessGroup::is_own() const { return !core_ || core_->process().here(); }

void ProcessGroup::check_own(const char* op) const {
  if (core_) core_->process().check(op, "the process group '" + name_ + "'");
}

void ProcessGroup::leave() {
  if (core_) core_->leave();
}

std::chrono::milliseconds ProcessGroup::timeout() const {
  return core_ ? core_->timeout() : std::chrono::milliseconds(0);
}

void ProcessGroup::set_timeout(std::chrono::milliseconds timeout) {
  TAEDA_CHECK_VALUE(timeout.count() > 0, "set_timeout: the timeout of the process group '", name_,
                    "' must be at least a millisecond, got ", timeout.count(), " ms");
  if (core_) core_->set_timeout(timeout);
}

std::string ProcessGroup::failure() const { return core_ ? core_->failure() : ""; }

Fingerprint ProcessGroup::what(const char* op, const Tensor& t, const CallOptions& options) const {
  TAEDA_CHECK(is_member(), op, ": this process is not in group '", name_, "'");
  TAEDA_CHECK(t.layout().is_strided(), op,
              ": expected a dense tensor, got a sparse one; exchange what its to_dense() gives, or "
              "its indices and values");
  Fingerprint out;
  out.op = op;
  out.dtype = t.dtype();
  out.shape = SmallVector<int64_t, 4>(t.sizes());
  out.site = options.site;
  return out;
}

WorkPtr ProcessGroup::broadcast(const Tensor& data, int root, CallOptions options) {
  Fingerprint call = what("broadcast", data, options);
  check_rank(call.op, root, size());
  call.peer = world_rank(root);
  const auto staged = stage({data}, rank_ == root ? Use::In : Use::InOut);
  return core_->start(std::move(call), data.device(), options.async, {data},
                      [=, here = rank_](Communicator& c, const Call& id, Work& work) {
                        c.broadcast(id, staged->elements(), root);
                        if (here != root) staged->deliver(work);
                      });
}

WorkPtr ProcessGroup::all_reduce(const Tensor& data, ReduceOp op, CallOptions options) {
  Fingerprint call = what("all_reduce", data, options);
  check_reducible(call.op, op, data.dtype());
  call.reduce = op.kind;
  const auto staged = stage({data}, Use::InOut);
  return core_->start(std::move(call), data.device(), options.async, {data},
                      [=, n = size()](Communicator& c, const Call& id, Work& work) {
                        const Elements all = staged->elements();
                        const Reduction reduction(c, op, all, n);
                        reduction.before(staged->flat());
                        c.all_reduce(id, all, reduction.engine);
                        reduction.after(staged->flat());
                        staged->deliver(work);
                      });
}

WorkPtr ProcessGroup::reduce(const Tensor& data, int root, ReduceOp op, CallOptions options) {
  Fingerprint call = what("reduce", data, options);
  check_rank(call.op, root, size());
  check_reducible(call.op, op, data.dtype());
  call.reduce = op.kind;
  call.peer = world_rank(root);
  const bool changes = rank_ == root;
  const auto staged =
      stage({data}, changes ? Use::InOut : Use::In, !changes && op.kind == ReduceOp::PREMUL_SUM);
  return core_->start(std::move(call), data.device(), options.async, {data},
                      [=, n = size()](Communicator& c, const Call& id, Work& work) {
                        const Elements all = staged->elements();
                        const Reduction reduction(c, op, all, n);
                        reduction.before(staged->flat());
                        c.reduce(id, all, reduction.engine, root);
                        if (!changes) return;
                        reduction.after(staged->flat());
                        staged->deliver(work);
                      });
}

WorkPtr ProcessGroup::all_gather_parts(const char* op, const std::vector<Tensor>& outputs,
                                       const Tensor& input, const CallOptions& options) {
  const auto in = stage_input({input}, outputs, InPlace::Input), out = stage(outputs, Use::Out);
  return core_->start(what(op, input, options), input.device(), options.async, outputs,
                      [=](Communicator& c, const Call& id, Work& work) {
                        c.all_gather(id, in->elements(), out->elements());
                        out->deliver(work);
                      });
}

WorkPtr ProcessGroup::all_gather(const std::vector<Tensor>& outputs, const Tensor& input,
                                 CallOptions options) {
  const Fingerprint call = what("all_gather", input, options);
  check_list(call.op, "outputs", outputs, size(), input);
  return all_gather_parts(call.op, outputs, input, options);
}

WorkPtr ProcessGroup::all_gather_into_tensor(const Tensor& output, const Tensor& input,
                                             CallOptions options) {
  const Fingerprint call = what("all_gather_into_tensor", input, options);
  check_alike(call.op, output, input);
  TAEDA_CHECK_VALUE(is_times(output.numel(), input.numel(), size()), call.op,
                    ": output tensor size must be equal to world_size times input tensor size, "
                    "got ",
                    output.numel(), " and ", size(), " times ", input.numel());
  return all_gather_parts(call.op, {output}, input, options);
}

WorkPtr ProcessGroup::gather(const std::vector<Tensor>& outputs, const Tensor& input, int root,
                             CallOptions options) {
  Fingerprint call = what("gather", input, options);
  check_rank(call.op, root, size());
  check_root_list(call.op, "gather_list", "destination", outputs, rank_ == root, size(), input);
  call.peer = world_rank(root);
  const auto in = stage_input({input}, outputs);
  const auto out = rank_ == root ? stage(outputs, Use::Out) : nullptr;
  return core_->start(std::move(call), input.device(), options.async, outputs,
                      [=](Communicator& c, const Call& id, Work& work) {
                        c.gather(id, in->elements(), out ? out->elements() : Elements(), root);
                        if (out) out->deliver(work);
                      });
}

WorkPtr ProcessGroup::scatter(const Tensor& output, const std::vector<Tensor>& inputs, int root,
                              CallOptions options) {
  Fingerprint call = what("scatter", output, options);
  check_rank(call.op, root, size());
  check_root_list(call.op, "scatter_list", "source", inputs, rank_ == root, size(), output);
  call.peer = world_rank(root);
  const auto in = rank_ == root ? stage_input(inputs, {output}) : nullptr;
  const auto out = stage({output}, Use::Out);
  return core_->start(std::move(call), output.device(), options.async, {output},
                      [=](Communicator& c, const Call& id, Work& work) {
                        c.scatter(id, in ? in->elements() : Elements(), out->elements(), root);
                        out->deliver(work);
                      });
}

WorkPtr ProcessGroup::reduce_scatter_parts(const char* op, const Tensor& output,
                                           const std::vector<Tensor>& inputs, ReduceOp how,
                                           const CallOptions& options) {
  check_reducible(op, how, output.dtype());
  Fingerprint call = what(op, output, options);
  call.reduce = how.kind;
  const auto in = how.kind == ReduceOp::PREMUL_SUM ? stage(inputs, Use::In, true)
                                                   : stage_input(inputs, {output}, InPlace::Output);
  const auto out = stage({output}, Use::Out);
  return core_->start(std::move(call), output.device(), options.async, {output},
                      [=, n = size()](Communicator& c, const Call& id, Work& work) {
                        const Elements all = in->elements();
                        const Reduction reduction(c, how, all, n);
                        reduction.before(in->flat());
                        c.reduce_scatter(id, all, out->elements(), reduction.engine);
                        reduction.after(out->flat());
                        out->deliver(work);
                      });
}

WorkPtr ProcessGroup::reduce_scatter(const Tensor& output, const std::vector<Tensor>& inputs,
                                     ReduceOp op, CallOptions options) {
  const Fingerprint call = what("reduce_scatter", output, options);
  check_list(call.op, "inputs", inputs, size(), output);
  return reduce_scatter_parts(call.op, output, inputs, op, options);
}

WorkPtr ProcessGroup::reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp op,
                                            CallOptions options) {
  const Fingerprint call = what("reduce_scatter_tensor", output, options);
  check_alike(call.op, output, input);
  TAEDA_CHECK_VALUE(is_times(input.numel(), output.numel(), size()), call.op,
                    ": input tensor must be the same size as output size times world size, got ",
                    input.numel(), " and ", size(), " times ", output.numel());
  return reduce_scatter_parts(call.op, output, {input}, op, options);
}

WorkPtr ProcessGroup::all_to_all(const std::vector<Tensor>& outputs,
                                 const std::vector<Tensor>& inputs, CallOptions options) {
  TAEDA_CHECK_VALUE(!inputs.empty(), "all_to_all: expected a tensor for each of ", size(),
                    " ranks, got none");
  Fingerprint call = what("all_to_all", inputs[0], options);
  check_lengths(call.op, outputs, inputs, size());
  call.ragged = true;
  std::vector<int64_t> in, out;
  for (const Tensor& t : inputs) in.push_back(t.numel());
  for (const Tensor& t : outputs) out.push_back(t.numel());
  return exchange(std::move(call), outputs, std::move(out), inputs, std::move(in), options.async);
}

WorkPtr ProcessGroup::all_to_all_single(const Tensor& output, const Tensor& input,
                                        std::vector<int64_t> output_splits,
                                        std::vector<int64_t> input_splits, CallOptions options) {
  Fingerprint call = what("all_to_all_single", input, options);
  check_alike(call.op, output, input);
  call.ragged = !output_splits.empty() || !input_splits.empty();
  auto out = split_counts(call.op, "output", output, std::move(output_splits), size());
  auto in = split_counts(call.op, "input", input, std::move(input_splits), size());
  return exchange(std::move(call), {output}, std::move(out), {input}, std::move(in), options.async);
}

/// Where shapes may differ between ranks the counts are compared first: every rank gets those of
/// all, so that all of them find the same fault.
WorkPtr ProcessGroup::exchange(Fingerprint call, const std::vector<Tensor>& outputs,
                               std::vector<int64_t> output_counts,
                               const std::vector<Tensor>& inputs, std::vector<int64_t> input_counts,
                               bool async) {
  const auto in = stage_input(inputs, outputs), out = stage(outputs, Use::Out);
  const bool compare = call.ragged;
  return core_->start(std::move(call), inputs[0].device(), async, outputs,
                      [=, ranks = ranks_](Communicator& c, const Call& id, Work& work) {
                        if (compare)
                          compare_counts(c, id, work.what(), ranks, input_counts, output_counts);
                        c.all_to_all(id, in->elements(), input_counts, out->elements(),
                                     output_counts);
                        out->deliver(work);
                      });
}

WorkPtr ProcessGroup::barrier(CallOptions options) {
  TAEDA_CHECK(is_member(), "barrier: this process is not in group '", name_, "'");
  const Fingerprint call{.op = "barrier", .shape = {}, .site = options.site};
  return core_->start(call, Device(kCPU), options.async, {},
                      [](Communicator& c, const Call& id, Work&) { c.barrier(id); });
}

WorkPtr ProcessGroup::send(const Tensor& data, int to, int64_t tag, CallOptions options) {
  TAEDA_CHECK_VALUE(to != rank_,
                    "send: Invalid destination rank: destination rank should not be "
                    "the same as the rank of the current process.");
  return message(options.async ? "isend" : "send", Fingerprint::Kind::Send, data, to, tag, options);
}

WorkPtr ProcessGroup::recv(const Tensor& data, int from, int64_t tag, CallOptions options) {
  TAEDA_CHECK_VALUE(from != rank_,
                    "recv: Invalid source rank: source rank should not be the same "
                    "as the rank of the current process.");
  return message(options.async ? "irecv" : "recv", Fingerprint::Kind::Recv, data, from, tag,
                 options);
}

/// Messages of one direction, partner and tag have a lane: they keep their order, and wait for
/// nothing else. On a device's stream they wait for each other whatever their tags.
WorkPtr ProcessGroup::message(const char* op, Fingerprint::Kind kind, const Tensor& data, int peer,
                              int64_t tag, const CallOptions& options) {
  Fingerprint call = what(op, data, options);
  const bool sends = kind == Fingerprint::Kind::Send;
  if (sends || peer >= 0) check_rank(op, peer, size());
  TAEDA_CHECK_VALUE(tag >= 0 && tag < kMaxTag, op, ": expected a tag from 0 to ", kMaxTag - 1,
                    ", got ", tag);
  call.kind = kind;
  call.peer = peer < 0 ? -1 : world_rank(peer);
  call.tag = tag;
  const bool one_lane = core_->queues_on(data.device());
  const Lanes::Key lane = (uint64_t{1} << 63) | (uint64_t{sends} << 62) |
                          (static_cast<uint64_t>(peer + 1) << 32) |
                          static_cast<uint64_t>(one_lane ? 0 : tag);
  const auto staged = stage({data}, sends ? Use::In : Use::Out);
  return core_->start(std::move(call), {data.device(), lane}, options.async, {data},
                      [=](Communicator& c, const Call& id, Work& work) {
                        if (sends) return c.send(id, staged->elements(), peer);
                        work.source_rank_ = c.recv(id, staged->elements(), peer);
                        staged->deliver(work);
                      });
}

}  // namespace taeda::inline v0_2::distributed
