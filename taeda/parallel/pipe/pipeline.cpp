#include "taeda/parallel/pipe/pipeline.h"

#include <optional>
#include <utility>

#include "taeda/nn/checkpoint.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::detail {

Pipeline::Pipeline(std::vector<std::shared_ptr<Stage>> stages)
    : stages_(std::move(stages)), leaving_(stages_.size()), arriving_(stages_.size()) {
  for (size_t s = 0; s + 1 < stages_.size(); ++s) add_lanes(s, s + 1);
  std::map<std::string, size_t> stashed;  // name -> stage
  for (size_t s = 0; s < stages_.size(); ++s)
    for (const AnyModule& m : stages_[s]->modules())
      for (const Skippable* skippable : skippables_of(m.ptr())) {
        for (const std::string& name : skippable->stashable()) stashed[name] = s;
        for (const std::string& name : skippable->poppable()) {
          const size_t from = stashed.at(name);
          if (from == s) continue;
          leaving_[from].push_back(
              {from, stages_[from]->stashes.size(), s, stages_[s]->pops.size()});
          arriving_[s].push_back(leaving_[from].back());
          stages_[from]->stashes.push_back(name);
          stages_[s]->pops.push_back(name);
          add_lanes(from, s);
        }
      }
}

void Pipeline::add_lanes(size_t from, size_t to) {
  if (lanes_.contains({from, to})) return;
  const Device a = stages_[from]->device(), b = stages_[to]->device();
  const Lanes lanes{Lane(a, b), Lane(b, a)};
  lanes_.emplace(std::pair(from, to), lanes);
  lanes_.emplace(std::pair(to, from), lanes.reversed());
}

namespace {

/// Tensors on streams between devices, by stage and micro-batch.
class Streams final : public Ways {
 public:
  Streams(const Pipeline& pipeline, size_t micro_batches)
      : input_gradients(micro_batches), pipeline_(pipeline), places_(pipeline.stages().size()) {
    for (size_t s = 0; s < places_.size(); ++s) {
      places_[s] = std::vector<Place>(micro_batches);
      for (Place& place : places_[s]) {
        place.pops.resize(pipeline_.arriving(s).size());
        place.stash_gradients.resize(pipeline_.leaving(s).size());
      }
    }
  }

  /// The arguments of the first stage.
  void give(size_t micro_batch, const std::vector<Tensor>& inputs) {
    Place& first = at(0, micro_batch);
    first.values.tensors = inputs;
    for (const Tensor& t : inputs) first.values.wanted.push_back(t.requires_grad());
    first.forms.resize(inputs.size());
  }

  Values take_values(size_t s, size_t i) override {
    Values out{std::move(at(s, i).forms), {}, {}};
    const auto take = [&](Parcel& parcel) {
      out.wanted.insert(out.wanted.end(), parcel.wanted.begin(), parcel.wanted.end());
      for (const Tensor& t : receive(std::exchange(parcel, Parcel()))) out.tensors.push_back(t);
    };
    take(at(s, i).values);
    for (Parcel& p : at(s, i).pops) take(p);
    return out;
  }

  void pass_values(size_t s, size_t i, Values values) override {
    const auto parcel = [&](size_t first, size_t count, size_t to) {
      const auto begin = static_cast<ptrdiff_t>(first), end = static_cast<ptrdiff_t>(first + count);
      const auto& t = values.tensors;
      Parcel out = send({t.begin() + begin, t.begin() + end}, pipeline_.lanes(s, to));
      out.wanted.assign(values.wanted.begin() + begin, values.wanted.begin() + end);
      return out;
    };
    const size_t size = values.forms[0].size;
    at(s + 1, i).values = parcel(0, size, s + 1);
    at(s + 1, i).forms = values.forms;
    for (const Route& r : pipeline_.leaving(s))
      at(r.to, i).pops[r.pop] = parcel(size + r.stash, 1, r.to);
  }

  std::vector<Tensor> take_gradients(size_t s, size_t i) override {
    std::vector<Tensor> out = receive(std::exchange(at(s, i).gradients, Parcel()));
    for (Parcel& p : at(s, i).stash_gradients)
      out.push_back(receive(std::exchange(p, Parcel()))[0]);
    return out;
  }

  void pass_gradients(size_t s, size_t i, const std::vector<Tensor>& leaves) override {
    const NoGradGuard values_only;
    std::vector<Tensor> gradients;
    for (const Tensor& t : leaves) gradients.push_back(t.defined() ? t.grad() : Tensor());
    const size_t values = gradients.size() - pipeline_.arriving(s).size();
    for (const Route& r : pipeline_.arriving(s))
      at(r.from, i).stash_gradients[r.stash] =
          send({gradients[values + r.pop]}, pipeline_.lanes(s, r.from));
    gradients.resize(values);
    if (s == 0)
      input_gradients[i] = gradients[0];
    else
      at(s - 1, i).gradients = send(gradients, pipeline_.lanes(s, s - 1));
  }

  std::vector<Tensor> input_gradients;

 private:
  struct Place {
    Parcel values, gradients;                   // from the stages beside
    std::vector<Parcel> pops, stash_gradients;  // from others
    std::vector<Form> forms;
  };
  Place& at(size_t stage, size_t micro_batch) { return places_[stage][micro_batch]; }

  const Pipeline& pipeline_;
  std::vector<std::vector<Place>> places_;
};

/// Runs a stage; if `checkpointed`, its activations are computed again in backward.
std::vector<Tensor> run_stage(const std::shared_ptr<Stage>& stage, size_t micro_batch,
                              const Ways::Values& given, bool checkpointed, Form& form) {
  std::optional<taeda::utils::checkpoint::detail::FirstRun> first;
  if (checkpointed && GradMode::is_enabled())
    first.emplace(
        [=, forms = given.forms](const std::vector<Tensor>& tensors) {
          Form form_again;
          stage->run(micro_batch, forms, tensors, form_again);
        },
        given.tensors, taeda::utils::checkpoint::CheckpointOptions{.early_stop = false});
  return stage->run(micro_batch, given.forms, given.tensors, form);
}

}  // namespace

Tensor Pipeline::forward(const std::vector<std::vector<Tensor>>& micro_batches, size_t checkpointed,
                         Meter& meter) const {
  const size_t n = micro_batches.size(), stages = stages_.size();
  Streams ways(*this, n);
  for (size_t i = 0; i < n; ++i) ways.give(i, micro_batches[i]);
  std::vector<Tensor> outputs;
  // Numbers of nodes, which order backward, rise with time on each device.
  run_orders(forward_orders(stages, n), [&](const StageAction& a) {
    const Ways::Values given = ways.take_values(a.stage, a.micro_batch);
    Form form;
    meter.start(a.stage);
    std::vector<Tensor> out =
        run_stage(stages_[a.stage], a.micro_batch, given, a.micro_batch < checkpointed, form);
    meter.stop(a.stage);
    meter.kept(a.stage).add(1);
    if (a.stage + 1 < stages) {
      const std::vector<bool> wanted(out.size());
      return ways.pass_values(a.stage, a.micro_batch, {{form}, std::move(out), wanted});
    }
    check_last(form);
    outputs.push_back(out[0]);
  });
  return n == 1 ? outputs[0] : cat(outputs, 0);
}

void Pipeline::train_step(PipeSchedule schedule, const std::vector<Tensor>& inputs,
                          size_t checkpointed, LastStage& last, Meter& meter,
                          std::vector<Tensor>& input_gradients) const {
  const AutoGradMode recording(true);
  const size_t n = inputs.size(), stages = stages_.size();
  Streams ways(*this, n);
  for (size_t i = 0; i < n; ++i) ways.give(i, {inputs[i]});
  last.losses.resize(n);
  std::vector<StageRunner> runners;
  std::vector<Order> orders;
  for (size_t s = 0; s < stages; ++s) {
    runners.emplace_back(*stages_[s], ways, meter.kept(s));
    runners.back().begin(n, true, checkpointed, s + 1 == stages ? &last : nullptr, &meter);
    orders.push_back(order_of(schedule, s, stages, n));
  }
  run_orders(orders, [&](const StageAction& a) { runners[a.stage].perform(a); });
  input_gradients = std::move(ways.input_gradients);
}

}  // namespace taeda::inline v0_2::nn::detail
