#include "taeda/distributed/pipeline/schedules.h"

#include <algorithm>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/group/texts.h"
#include "taeda/distributed/pipeline/order.h"
#include "taeda/distributed/pipeline/stage_step.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::pipelining {

using detail::Order, detail::StageAction, detail::StageRunner;

class PipelineSchedule::Impl {
 public:
  Impl(const char* name, const std::vector<PipelineStage>& stages, int64_t n_microbatches,
       Loss loss_fn, const ScheduleOptions& options);
  Tensor step(const std::vector<Tensor>& args, const StepOptions& options);

  Order order;
  int64_t most_kept = 0;

  size_t micro_batches() const { return static_cast<size_t>(count_); }
  /// The order without what is not done.
  void set_order(Order whole) { order = trains_ ? std::move(whole) : forward_only(whole); }

 private:
  detail::StepBatch cut(const std::vector<Tensor>& args, const StepOptions& options) const;
  std::vector<Tensor> parts_of(const Tensor& t, const char* what) const;
  void check_same_everywhere();
  void run(const StageAction& action);
  StageRunner& runner(const StageAction& action);

  const char* name_;
  const int64_t count_;
  const bool trains_;
  const ProcessGroupPtr group_;
  const int stages_in_all_;
  detail::Traffic traffic_;
  std::vector<std::unique_ptr<StageRunner>> runners_;
  bool checked_ = false;
};

PipelineSchedule::Impl::Impl(const char* name, const std::vector<PipelineStage>& stages,
                             int64_t n_microbatches, Loss loss_fn, const ScheduleOptions& options)
    : name_(name),
      count_(n_microbatches),
      trains_(loss_fn != nullptr),
      group_(stages.at(0).group()),
      stages_in_all_(stages.at(0).num_stages()) {
  TAEDA_CHECK_VALUE(count_ > 0, name_, ": expected at least one microbatch, got ", count_);
  const double scale = options.scale_grads ? 1 / static_cast<double>(count_) : 1;
  for (const PipelineStage& s : stages)
    runners_.push_back(std::make_unique<StageRunner>(s, loss_fn, trains_, scale, traffic_));
}

StageRunner& PipelineSchedule::Impl::runner(const StageAction& action) {
  return *runners_[action.stage / static_cast<size_t>(group_->size())];
}

/// Every process hears what the others have, so that all find the same fault.
void PipelineSchedule::Impl::check_same_everywhere() {
  const auto texts = distributed::detail::all_gather_texts(
      taeda::detail::concat(name_, " with ", count_, " micro-batches, ", stages_in_all_,
                            " stages and ", trains_ ? "a" : "no", " loss function"),
      group_, Site::current());
  for (size_t r = 1; r < texts.size(); ++r)
    TAEDA_CHECK_VALUE(texts[r] == texts[0],
                      "the processes of a pipeline have different schedules: "
                      "rank 0 has ",
                      texts[0], ", rank ", r, " has ", texts[r]);
  checked_ = true;
}

std::vector<Tensor> PipelineSchedule::Impl::parts_of(const Tensor& t, const char* what) const {
  TAEDA_CHECK_VALUE(t.defined() && t.dim() > 0 && t.size(0) > 0 && t.size(0) % count_ == 0, name_,
                    ": ", what, " of shape ",
                    t.defined() ? taeda::detail::concat(t.sizes()) : std::string("nothing"),
                    " cannot be cut into ", count_, " micro-batches of one size");
  return t.detach().chunk(count_, 0);
}

detail::StepBatch PipelineSchedule::Impl::cut(const std::vector<Tensor>& args,
                                              const StepOptions& options) const {
  detail::StepBatch out;
  if (runners_.front()->stage().is_first()) {
    TAEDA_CHECK_VALUE(!args.empty(), name_, ": the process of the first stage needs an input");
    out.arguments.resize(micro_batches());
    for (const Tensor& arg : args) {
      const std::vector<Tensor> parts = parts_of(arg, "an input");
      for (size_t i = 0; i < parts.size(); ++i) out.arguments[i].push_back(parts[i]);
    }
  }
  if (trains_ && runners_.back()->stage().is_last())
    out.targets = parts_of(options.target, "a target");
  return out;
}

void PipelineSchedule::Impl::run(const StageAction& action) {
  if (action.backward)
    runner(action).backward(action.micro_batch);
  else
    runner(action).forward(action.micro_batch);
}

Tensor PipelineSchedule::Impl::step(const std::vector<Tensor>& args, const StepOptions& options) {
  if (!checked_) check_same_everywhere();
  detail::StepBatch batch = cut(args, options);
  for (const auto& r : runners_) r->begin(batch, micro_batches());
  int64_t kept = 0;
  most_kept = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    runner(order[i]).expect(order[i].backward, order[i].micro_batch);
    if (i + 1 < order.size())
      runner(order[i + 1]).expect(order[i + 1].backward, order[i + 1].micro_batch);
    run(order[i]);
    traffic_.tidy();
    kept += order[i].backward ? -1 : 1;
    if (trains_) most_kept = std::max(most_kept, kept);
  }
  traffic_.finish();
  if (options.losses) *options.losses = std::move(batch.losses);
  if (batch.outputs.empty()) return {};
  return batch.outputs[0].dim() > 0 ? cat(batch.outputs, 0) : stack(batch.outputs);
}

PipelineSchedule::PipelineSchedule(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
PipelineSchedule::~PipelineSchedule() = default;

Tensor PipelineSchedule::step(const std::vector<Tensor>& args, const StepOptions& options) {
  return impl_->step(args, options);
}

int64_t PipelineSchedule::most_kept() const { return impl_->most_kept; }

std::shared_ptr<PipelineSchedule::Impl> PipelineSchedule::one_stage(
    const char* name, nn::PipeSchedule order, const PipelineStage& stage, int64_t n_microbatches,
    Loss loss_fn, const ScheduleOptions& options) {
  TAEDA_CHECK_VALUE(stage.num_stages() == stage.group()->size(), name, ": expected one stage for ",
                    "each process, got ", stage.num_stages(), " stages and ", stage.group()->size(),
                    " processes");
  auto out =
      std::make_shared<Impl>(name, std::vector{stage}, n_microbatches, std::move(loss_fn), options);
  out->set_order(detail::order_of(order, static_cast<size_t>(stage.stage_index()),
                                  static_cast<size_t>(stage.num_stages()), out->micro_batches()));
  return out;
}

std::shared_ptr<PipelineSchedule::Impl> PipelineSchedule::interleaved(
    const std::vector<PipelineStage>& stages, int64_t n_microbatches, Loss loss_fn,
    const ScheduleOptions& options) {
  const char* const name = "ScheduleInterleaved1F1B";
  TAEDA_CHECK_VALUE(!stages.empty(), name, ": there is no stage");
  const ProcessGroupPtr& group = stages[0].group();
  for (size_t i = 0; i < stages.size(); ++i) {
    const int wanted = group->rank() + static_cast<int>(i) * group->size();
    TAEDA_CHECK_VALUE(stages[i].group() == group && stages[i].stage_index() == wanted &&
                          stages[i].num_stages() == static_cast<int>(stages.size()) * group->size(),
                      name, ": expected stage ", wanted, " of ",
                      stages.size() * static_cast<size_t>(group->size()), " as stage ", i,
                      " of rank ", group->rank(), ", got stage ", stages[i].stage_index(), " of ",
                      stages[i].num_stages());
  }
  auto out = std::make_shared<Impl>(name, stages, n_microbatches, std::move(loss_fn), options);
  out->set_order(detail::interleaved_order_of(static_cast<size_t>(group->rank()),
                                              static_cast<size_t>(group->size()), stages.size(),
                                              out->micro_batches()));
  return out;
}

}  // namespace taeda::distributed::pipelining
