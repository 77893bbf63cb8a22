#include "taeda/distributed/pipeline/link.h"

#include <algorithm>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

namespace {

/// Messages of pipelines have tags that programs hardly use. Each way has one for each kind.
constexpr int64_t kFirstTag = int64_t{1} << 27;
constexpr int64_t kMostShapeNumbers = int64_t{1} << 20;
enum MessageKind { kShapeLength, kShapeNumbers, kValues, kGradients, kMessageKinds };

std::string text_of(const Shape::Item& item) {
  return taeda::detail::concat(dtype_name(item.dtype), item.sizes);
}

Tensor numbers_of(const std::vector<int64_t>& values) {
  const Tensor out = empty({static_cast<int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), out.data_ptr<int64_t>());
  return out;
}

/// Whether tensors have this number as their dtype.
bool is_dtype(int64_t number) {
  for (const ScalarType known : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble,
                                 kComplexFloat, kComplexDouble, kBool, kBFloat16})
    if (number == static_cast<int64_t>(known)) return true;
  return false;
}

}  // namespace

Shape Shape::of(const nn::detail::Ways::Values& values) {
  Shape out{values.forms[0], {}};
  for (size_t i = 0; i < values.tensors.size(); ++i) {
    const Tensor& t = values.tensors[i];
    TAEDA_CHECK_VALUE(t.defined(), "a pipeline stage returned an undefined tensor");
    out.items.push_back({t.dtype(), t.sizes(), values.wanted[i]});
  }
  return out;
}

std::string Shape::difference(const Shape& other) const {
  if (form.kind != other.form.kind || items.size() != other.items.size())
    return taeda::detail::concat("there are ", items.size(), " outputs, not ", other.items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &a = items[i], &b = other.items[i];
    if (a.dtype != b.dtype || a.sizes != b.sizes)
      return taeda::detail::concat("output ", i, " is ", text_of(a), ", not ", text_of(b));
    if (a.wanted != b.wanted)
      return taeda::detail::concat("output ", i, a.wanted ? " requires" : " does not require",
                                   " a gradient");
  }
  return "";
}

std::vector<int64_t> Shape::encoded() const {
  std::vector<int64_t> out = {form.kind, static_cast<int64_t>(items.size())};
  for (const Item& item : items) {
    out.push_back(static_cast<int64_t>(item.dtype));
    out.push_back(item.wanted);
    out.push_back(static_cast<int64_t>(item.sizes.size()));
    for (const int64_t size : item.sizes) out.push_back(size);
  }
  return out;
}

Shape Shape::decoded(IntArrayRef numbers) {
  const auto check = [](bool fits, const char* what, int64_t value) {
    TAEDA_CHECK_AS(DistributedError, fits,
                   "a pipeline stage says that its outputs are of a form that there is not: ", what,
                   " ", value);
  };
  size_t at = 0;
  const auto next = [&] {
    check(at < numbers.size(), "it ends after number", static_cast<int64_t>(at));
    return numbers[at++];
  };
  // Each of what is counted takes a number at least.
  const auto count = [&] {
    const int64_t out = next();
    check(out >= 0 && static_cast<uint64_t>(out) <= numbers.size() - at, "a count of", out);
    return static_cast<size_t>(out);
  };
  Shape out;
  const int64_t kind = next();
  check(kind >= nn::detail::Form::One && kind <= nn::detail::Form::Three, "kind", kind);
  out.form.kind = static_cast<nn::detail::Form::Kind>(kind);
  out.items.resize(count());
  out.form.size = out.items.size();
  const auto parts = static_cast<int64_t>(out.items.size());
  switch (out.form.kind) {
    case nn::detail::Form::One: check(parts == 1, "a tensor of parts", parts); break;
    case nn::detail::Form::Two: check(parts == 2, "a pair of parts", parts); break;
    case nn::detail::Form::Three: check(parts == 3, "a triple of parts", parts); break;
    default: break;
  }
  for (Item& item : out.items) {
    const int64_t dtype = next();
    check(is_dtype(dtype), "dtype", dtype);
    item.dtype = static_cast<ScalarType>(dtype);
    const int64_t wanted = next();
    check(wanted == 0 || wanted == 1, "a gradient wanted", wanted);
    item.wanted = wanted != 0;
    item.sizes.resize(count());
    for (int64_t& size : item.sizes) {
      size = next();
      check(size >= 0, "a size of", size);
    }
  }
  check(at == numbers.size(), "more numbers than it needs:", static_cast<int64_t>(numbers.size()));
  return out;
}

void Traffic::tidy() {
  while (!sent.empty() && sent.front()->is_completed()) {
    sent.front()->wait();
    sent.pop_front();
  }
}

void Traffic::finish() {
  for (; !sent.empty(); sent.pop_front()) sent.front()->wait();
}

Link::Link(const PipelineStage& stage, bool behind, Traffic& traffic)
    : group_(stage.group()),
      behind_(behind),
      from_(stage.stage_index() - (behind ? 0 : 1)),
      peer_(stage.rank_of(stage.stage_index() + (behind ? 1 : -1))),
      device_(stage.device()),
      traffic_(traffic) {}

int64_t Link::tag(int kind) const { return kFirstTag + int64_t{from_} * kMessageKinds + kind; }

void Link::send(int kind, const Tensor& t) {
  traffic_.sent.push_back(group_->send(t, peer_, tag(kind), {.async = true}));
}

void Link::send_shape() {
  if (is_local()) {
    local().shape = shape_;
    return;
  }
  const Tensor numbers = numbers_of(shape_->encoded());
  send(kShapeLength, numbers_of({numbers.numel()}));
  send(kShapeNumbers, numbers);
}

void Link::receive_shape() {
  if (is_local()) {
    shape_ = local().shape;
    return;
  }
  const Tensor length = empty({1}, kLong);
  group_->recv(length, peer_, tag(kShapeLength), {});
  const auto count = length.item<int64_t>();
  TAEDA_CHECK_AS(DistributedError, count >= 0 && count <= kMostShapeNumbers, "stage ", from_,
                 " says of its outputs that ", count, " numbers describe them");
  const Tensor numbers = empty({count}, kLong);
  group_->recv(numbers, peer_, tag(kShapeNumbers), {});
  shape_ = Shape::decoded({numbers.data_ptr<int64_t>(), static_cast<size_t>(count)});
}

void Link::send_outputs(size_t micro_batch, const nn::detail::Ways::Values& values) {
  Shape shape = Shape::of(values);
  if (!shape_) {
    shape_ = std::move(shape);
    send_shape();
  } else if (const std::string difference = shape.difference(*shape_); !difference.empty()) {
    throw ValueError(taeda::detail::concat("stage ", from_, " on rank ", group_->rank(),
                                           ", micro-batch ", micro_batch, ": ", difference,
                                           " as stage ", from_ + 1, " on rank ", peer_,
                                           " expects since the first micro-batch"));
  }
  if (is_local())
    local().forward[micro_batch] = values.tensors;
  else
    for (const Tensor& t : values.tensors) send(kValues, t);
}

void Link::expect(size_t micro_batch) {
  if (is_local() || !shape_) return;
  for (const Expected& e : expected_)
    if (e.micro_batch == micro_batch) return;
  Expected e{micro_batch, {}, {}};
  for (const Shape::Item& item : shape_->items) {
    const bool comes = !behind_ || item.wanted;
    e.tensors.push_back(comes ? empty(item.sizes, TensorOptions(item.dtype).device(device_))
                              : Tensor());
    if (comes)
      e.works.push_back(group_->recv(e.tensors.back(), peer_, tag(behind_ ? kGradients : kValues),
                                     {.async = true}));
  }
  expected_.push_back(std::move(e));
}

std::vector<Tensor> Link::receive(size_t micro_batch) {
  if (is_local()) {
    auto& map = behind_ ? local().backward : local().forward;
    return std::move(map.extract(micro_batch).mapped());
  }
  expect(micro_batch);
  TAEDA_INTERNAL_ASSERT(expected_.front().micro_batch == micro_batch,
                        "micro-batches come in another order than they are asked for");
  const Expected e = std::move(expected_.front());
  expected_.pop_front();
  for (const WorkPtr& work : e.works) work->wait();
  return e.tensors;
}

nn::detail::Ways::Values Link::receive_inputs(size_t micro_batch) {
  if (!shape_) receive_shape();
  nn::detail::Ways::Values out{{shape_->form}, receive(micro_batch), {}};
  for (const Shape::Item& item : shape_->items) out.wanted.push_back(item.wanted);
  return out;
}

std::vector<Tensor> Link::receive_gradients(size_t micro_batch) {
  std::vector<Tensor> out = receive(micro_batch);
  for (Tensor& t : out)
    if (t.defined()) t = t.to(device_);
  return out;
}

void Link::send_gradients(size_t micro_batch, const std::vector<Tensor>& leaves) {
  const NoGradGuard values_only;
  std::vector<Tensor> gradients(leaves.size());
  for (size_t i = 0; i < leaves.size(); ++i)
    if (shape_->items[i].wanted)
      gradients[i] = leaves[i].grad().defined() ? leaves[i].grad() : zeros_like(leaves[i]);
  if (is_local()) {
    local().backward[micro_batch] = std::move(gradients);
    return;
  }
  for (const Tensor& g : gradients)
    if (g.defined()) send(kGradients, g);
}

}  // namespace taeda::inline v0_2::distributed::pipelining::detail
