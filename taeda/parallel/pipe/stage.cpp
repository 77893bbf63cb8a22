#include "taeda/parallel/pipe/stage.h"

#include <tuple>

#include "taeda/autograd/record.h"
#include "taeda/base/rethrow.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2::nn::detail {

namespace {

using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

void check_skips(const std::vector<const Skippable*>& skippables,
                 const std::map<std::string, Tensor>& tensors) {
  for (const Skippable* s : skippables) {
    for (const std::string& name : s->stashable())
      TAEDA_CHECK(tensors.contains(name), "'", name, "' must be stashed but have not");
    for (const std::string& name : s->poppable())
      TAEDA_CHECK(!tensors.contains(name), "'", name, "' must be popped but have not");
  }
}

}  // namespace

Form form_of(const AnyValue& value, const std::string& where) {
  if (value.try_get<Tensor>()) return {Form::One, 1};
  if (const auto* list = value.try_get<std::vector<Tensor>>()) return {Form::List, list->size()};
  if (value.try_get<Pair>()) return {Form::Two, 2};
  if (value.try_get<Triple>()) return {Form::Three, 3};
  throw TypeError(taeda::detail::concat(
      where, " is a ", type_name(value.type_info()),
      ", but only tensors, and vectors or tuples of two or three of them, go from stage to stage"));
}

std::vector<Tensor> tensors_of(const AnyValue& value, const Form& form) {
  switch (form.kind) {
    case Form::One: return {value.get<Tensor>()};
    case Form::List: return value.get<std::vector<Tensor>>();
    case Form::Two: {
      const auto& [a, b] = value.get<Pair>();
      return {a, b};
    }
    case Form::Three: break;
  }
  const auto& [a, b, c] = value.get<Triple>();
  return {a, b, c};
}

AnyValue packed(const Form& form, const Tensor* t) {
  switch (form.kind) {
    case Form::One: return AnyValue(t[0]);
    case Form::List: return AnyValue(std::vector<Tensor>(t, t + form.size));
    case Form::Two: return AnyValue(Pair(t[0], t[1]));
    case Form::Three: break;
  }
  return AnyValue(Triple(t[0], t[1], t[2]));
}

std::vector<AnyValue> packed(const std::vector<Form>& forms, const std::vector<Tensor>& tensors) {
  std::vector<AnyValue> out;
  const Tensor* next = tensors.data();
  for (const Form& f : forms) {
    out.push_back(packed(f, next));
    next += f.size;
  }
  return out;
}

std::vector<Tensor> stand_ins(const std::vector<Tensor>& leaves) {
  std::vector<Tensor> out = leaves;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!wants_grad(leaves[i])) continue;
    out[i] = make_alias(leaves[i]);
    record("PipeInput", out[i], {leaves[i]}, [](const Tensor& g) { return g; });
  }
  return out;
}

void check_last(const Form& form) {
  TAEDA_CHECK_TYPE(form.kind == Form::One,
                   "the output of the last stage of a pipeline must be a tensor");
}

Stage::Stage(size_t index, std::string where, Device device, std::vector<AnyModule> modules,
             std::shared_ptr<PipeSequentialImpl> parent)
    : index_(index),
      where_(std::move(where)),
      device_(device),
      modules_(std::move(modules)),
      parent_(std::move(parent)) {
  for (const AnyModule& m : modules_) skippables_.push_back(skippables_of(m.ptr()));
}

std::string Stage::place_of(size_t micro_batch) const {
  return taeda::detail::concat("stage ", index_, " on ", where_, " (micro-batch ", micro_batch,
                               ")");
}

std::vector<Tensor> Stage::run(size_t micro_batch, const std::vector<Form>& forms,
                               const std::vector<Tensor>& inputs, Form& form) const try {
  const DeviceGuard on_device(device_);
  SkipScope skips;
  std::vector<AnyValue> values = packed(forms, inputs);
  for (size_t i = 0; i < pops.size(); ++i)
    skips.tensors[pops[i]] = inputs[inputs.size() - pops.size() + i];
  try {
    for (size_t i = 0; i < modules_.size(); ++i) {
      AnyModule module = modules_[i];
      AnyValue result = module.call_values(values.data(), values.size());
      values.assign(1, std::move(result));
      check_skips(skippables_[i], skips.tensors);
    }
  } catch (Error& e) {
    if (parent_) {
      e.enter_module(parent_->key(), parent_->name());
      e.enter_module("partitions", "ModuleList");
    }
    throw;
  }
  form = form_of(values[0], taeda::detail::concat("the output of stage ", index_));
  std::vector<Tensor> out = tensors_of(values[0], form);
  for (const std::string& name : stashes) out.push_back(skips.tensors.at(name));
  return out;
} catch (...) {
  rethrow_from("in " + place_of(micro_batch));
}

}  // namespace taeda::nn::detail
