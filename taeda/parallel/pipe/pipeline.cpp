#include "taeda/parallel/pipe/pipeline.h"

#include <algorithm>

#include "taeda/nn/checkpoint.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn::detail {

Meter::Meter(bool on, const std::vector<std::shared_ptr<Stage>>& stages) : on_(on) {
  for (const auto& s : stages) {
    Times& t = stages_.emplace_back();
    t.stream = current_stream(s->device());
    t.modules = s->modules()->size();
    if (on_) t.begin.record(t.stream);
  }
}

void Meter::start(size_t stage) {
  if (!on_) return;
  Times& t = stages_[stage];
  t.busy.emplace_back(Event(true), Event(true));
  t.busy.back().first.record(t.stream);
}

void Meter::stop(size_t stage) {
  if (on_) stages_[stage].busy.back().second.record(stages_[stage].stream);
}

void Meter::keep(size_t stage, int64_t change) {
  Times& t = stages_[stage];
  t.kept += change;
  t.most_kept = std::max(t.most_kept, t.kept);
}

void Meter::finish() {
  for (Times& t : stages_)
    if (on_) t.end.record(t.stream);
}

PipeReport Meter::report() const {
  TAEDA_CHECK(on_, "Pipe: the last step was not measured; set options().measure(true) before it");
  PipeReport out;
  out.schedule = schedule;
  out.micro_batches = static_cast<int64_t>(micro_batches);
  out.backward = backward;
  for (const Times& t : stages_) {
    t.end.synchronize();
    PipeReport::Stage& s = out.stages.emplace_back();
    s.device = t.stream.device();
    s.modules = t.modules;
    s.kept = t.most_kept;
    s.total_ms = t.begin.elapsed_time(t.end);
    for (const auto& [start, end] : t.busy) s.busy_ms += start.elapsed_time(end);
  }
  return out;
}

Pipeline::Pipeline(std::vector<std::shared_ptr<Stage>> stages)
    : stages_(std::move(stages)), leaving_(stages_.size()), arriving_(stages_.size()) {
  for (size_t s = 0; s + 1 < stages_.size(); ++s) add_lanes(s, s + 1);
  std::map<std::string, size_t> stashed;  // name -> stage
  for (size_t s = 0; s < stages_.size(); ++s)
    for (const AnyModule& m : *stages_[s]->modules())
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

/// A micro-batch on its way, with the whole graph behind it.
struct Item {
  Parcel values;
  std::vector<Form> forms;
  std::vector<std::vector<Parcel>> pops;  // by stage
};

/// Runs a stage; if `checkpointed`, its activations are computed again in backward.
std::vector<Tensor> run_stage(const std::shared_ptr<Stage>& stage, size_t micro_batch,
                              const std::vector<Form>& forms, const std::vector<Tensor>& inputs,
                              bool checkpointed, Form& form) {
  if (!checkpointed) return stage->run(micro_batch, forms, inputs, form);
  const auto given_form = std::make_shared<Form>();
  std::vector<Tensor> out = taeda::utils::checkpoint::detail::run(
      [=](const std::vector<Tensor>& tensors) {
        return stage->run(micro_batch, forms, tensors, *given_form);
      },
      inputs, true);
  form = *given_form;
  return out;
}

void check_output(const Form& form) {
  TAEDA_CHECK_TYPE(form.kind == Form::One, "Pipe: the output of the last stage must be a tensor");
}

}  // namespace

Tensor Pipeline::forward(const std::vector<std::vector<Tensor>>& micro_batches, size_t checkpointed,
                         Meter& meter) {
  const size_t n = micro_batches.size(), last_stage = stages_.size() - 1;
  std::vector<Item> items(n);
  for (size_t i = 0; i < n; ++i) {
    items[i].values.tensors = micro_batches[i];
    items[i].forms.assign(micro_batches[i].size(), Form{});
    items[i].pops.resize(stages_.size());
    for (size_t s = 0; s < stages_.size(); ++s) items[i].pops[s].resize(arriving_[s].size());
  }
  const auto advance = [&](size_t s, size_t i) {
    Item& item = items[i];
    std::vector<Tensor> inputs = receive(std::move(item.values));
    for (Parcel& p : item.pops[s]) inputs.push_back(receive(std::move(p))[0]);
    meter.start(s);
    Form form;
    std::vector<Tensor> out = run_stage(stages_[s], i, item.forms, inputs, i < checkpointed, form);
    meter.stop(s);
    meter.keep(s, 1);
    for (const Route& r : leaving_[s])
      item.pops[r.to][r.pop] = send({out[form.size + r.stash]}, lanes(s, r.to));
    out.resize(form.size);
    item.forms.assign(1, form);
    item.values = Parcel();
    if (s == last_stage)
      item.values.tensors = std::move(out);
    else
      item.values = send(out, lanes(s, s + 1));
  };
  // In clock ticks, so that numbers of nodes, which order backward, rise with time on each device.
  for (size_t tick = 0; tick < n + last_stage; ++tick)
    for (size_t s = std::min(tick, last_stage) + 1; s-- > 0;)
      if (tick - s < n) advance(s, tick - s);
  std::vector<Tensor> outputs;
  for (const Item& item : items) {
    check_output(item.forms[0]);
    outputs.push_back(item.values.tensors[0]);
  }
  return n == 1 ? outputs[0] : cat(outputs, 0);
}

}  // namespace taeda::nn::detail
