#include "taeda/distributed/pipeline/schedules.h"

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/distributed/group/texts.h"
#include "taeda/distributed/pipeline/link.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributed::pipelining {

using nn::detail::Order, nn::detail::StageAction, nn::detail::StageRunner, nn::detail::Ways;

class PipelineSchedule::Impl final : Ways {
 public:
  Impl(const char* name, const std::vector<PipelineStage>& stages, int64_t n_microbatches,
       Loss loss_fn, const ScheduleOptions& options);
  Tensor step(const std::vector<Tensor>& args, const StepOptions& options);

  Order order;
  nn::detail::Kept kept;

  size_t micro_batches() const { return static_cast<size_t>(count_); }
  /// The order without what is not done.
  void set_order(Order whole) {
    order = trains() ? std::move(whole) : nn::detail::forward_only(whole);
  }

 private:
  /// A stage of this process, and the ways to its neighbours.
  struct Own {
    Own(const PipelineStage& stage, Impl& impl);
    /// Has what an action needs under way before it begins.
    void expect(const StageAction& action) {
      if (auto& link = action.backward ? behind : before) link->expect(action.micro_batch);
    }
    PipelineStage place;
    nn::detail::Stage stage;
    std::optional<detail::Link> before, behind;
    DistributedDataParallelBase* replicas;  ///< if the module is one of several
    StageRunner runner;
    size_t to_go_back = 0;  ///< micro-batches
  };

  bool trains() const { return last_.loss != nullptr; }
  Own& own(size_t stage) { return own_[stage / static_cast<size_t>(group_->size())]; }
  void begin(const std::vector<Tensor>& args, const StepOptions& options);
  std::vector<Tensor> parts_of(const Tensor& t, const char* what) const;
  void check_same_everywhere();

  Values take_values(size_t stage, size_t i) override;
  void pass_values(size_t stage, size_t i, Values values) override {
    own(stage).behind->send_outputs(i, values);
  }
  std::vector<Tensor> take_gradients(size_t stage, size_t i) override {
    return own(stage).behind->receive_gradients(i);
  }
  void pass_gradients(size_t stage, size_t i, const std::vector<Tensor>& leaves) override {
    if (auto& before = own(stage).before) before->send_gradients(i, leaves);
  }

  const char* name_;
  const int64_t count_;
  const ProcessGroupPtr group_;
  const int stages_in_all_;
  detail::Traffic traffic_;
  nn::detail::LastStage last_;
  std::deque<Own> own_;
  std::vector<std::vector<Tensor>> arguments_;  // of the first stage, by micro-batch
  bool checked_ = false;
};

PipelineSchedule::Impl::Own::Own(const PipelineStage& s, Impl& impl)
    : place(s),
      stage(static_cast<size_t>(s.stage_index()), taeda::detail::concat("rank ", s.group()->rank()),
            s.device(), {s.module()}),
      replicas(dynamic_cast<DistributedDataParallelBase*>(s.module().ptr().get())),
      runner(stage, impl, impl.kept) {
  if (!s.is_first()) before.emplace(place, false, impl.traffic_);
  if (!s.is_last()) behind.emplace(place, true, impl.traffic_);
}

PipelineSchedule::Impl::Impl(const char* name, const std::vector<PipelineStage>& stages,
                             int64_t n_microbatches, Loss loss_fn, const ScheduleOptions& options)
    : name_(name),
      count_(n_microbatches),
      group_(stages.at(0).group()),
      stages_in_all_(stages.at(0).num_stages()) {
  TAEDA_CHECK_VALUE(count_ > 0, name_, ": expected at least one microbatch, got ", count_);
  last_.loss = std::move(loss_fn);
  last_.weights.assign(micro_batches(), options.scale_grads ? 1 / static_cast<double>(count_) : 1);
  for (const PipelineStage& s : stages) own_.emplace_back(s, *this);
}

/// Every process hears what the others have, so that all find the same fault.
void PipelineSchedule::Impl::check_same_everywhere() {
  const auto texts = distributed::detail::all_gather_texts(
      taeda::detail::concat(name_, " with ", count_, " micro-batches, ", stages_in_all_,
                            " stages and ", trains() ? "a" : "no", " loss function"),
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

void PipelineSchedule::Impl::begin(const std::vector<Tensor>& args, const StepOptions& options) {
  if (own_.front().place.is_first()) {
    TAEDA_CHECK_VALUE(!args.empty(), name_, ": the process of the first stage needs an input");
    arguments_.assign(micro_batches(), {});
    for (const Tensor& arg : args) {
      const std::vector<Tensor> parts = parts_of(arg, "an input");
      for (size_t i = 0; i < parts.size(); ++i) arguments_[i].push_back(parts[i]);
    }
  }
  if (own_.back().place.is_last()) {
    if (trains()) last_.targets = parts_of(options.target, "a target");
    last_.outputs.assign(micro_batches(), {});
    last_.losses.assign(trains() ? micro_batches() : 0, {});
  }
  for (Own& s : own_) {
    s.runner.begin(micro_batches(), trains(), 0, s.place.is_last() ? &last_ : nullptr, nullptr);
    s.to_go_back = micro_batches();
  }
  kept = {};
}

Ways::Values PipelineSchedule::Impl::take_values(size_t stage, size_t i) {
  if (auto& before = own(stage).before) return before->receive_inputs(i);
  const std::vector<Tensor>& given = arguments_[i];
  return {std::vector<nn::detail::Form>(given.size()), given, std::vector<bool>(given.size())};
}

Tensor PipelineSchedule::Impl::step(const std::vector<Tensor>& args, const StepOptions& options) {
  if (!checked_) check_same_everywhere();
  begin(args, options);
  // Replicas exchange what came together with the last micro-batch.
  std::deque<DistributedDataParallelBase::NoSync> gradients_stay;
  for (Own& s : own_)
    if (s.replicas && trains()) gradients_stay.emplace_back(*s.replicas);
  for (size_t i = 0; i < order.size(); ++i) {
    Own& s = own(order[i].stage);
    s.expect(order[i]);
    if (i + 1 < order.size()) own(order[i + 1].stage).expect(order[i + 1]);
    if (order[i].backward && --s.to_go_back == 0 && s.replicas)
      s.replicas->synchronize_next_backward();
    s.runner.perform(order[i]);
    traffic_.tidy();
  }
  traffic_.finish();
  if (options.losses) *options.losses = std::move(last_.losses);
  if (!own_.back().place.is_last()) return {};
  const std::vector<Tensor> outputs = std::exchange(last_.outputs, {});
  return outputs[0].dim() > 0 ? cat(outputs, 0) : stack(outputs);
}

PipelineSchedule::PipelineSchedule(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
PipelineSchedule::~PipelineSchedule() = default;

Tensor PipelineSchedule::step(const std::vector<Tensor>& args, const StepOptions& options) {
  return impl_->step(args, options);
}

int64_t PipelineSchedule::most_kept() const { return impl_->kept.most; }

std::shared_ptr<PipelineSchedule::Impl> PipelineSchedule::one_stage(
    const char* name, nn::PipeSchedule order, const PipelineStage& stage, int64_t n_microbatches,
    Loss loss_fn, const ScheduleOptions& options) {
  TAEDA_CHECK_VALUE(stage.num_stages() == stage.group()->size(), name, ": expected one stage for ",
                    "each process, got ", stage.num_stages(), " stages and ", stage.group()->size(),
                    " processes");
  auto out =
      std::make_shared<Impl>(name, std::vector{stage}, n_microbatches, std::move(loss_fn), options);
  out->set_order(nn::detail::order_of(order, static_cast<size_t>(stage.stage_index()),
                                      static_cast<size_t>(stage.num_stages()),
                                      out->micro_batches()));
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
  out->set_order(nn::detail::interleaved_order_of(static_cast<size_t>(group->rank()),
                                                  static_cast<size_t>(group->size()), stages.size(),
                                                  out->micro_batches()));
  return out;
}

}  // namespace taeda::distributed::pipelining
