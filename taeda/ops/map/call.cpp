#include "taeda/ops/map/call.h"

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/map/rules.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2 {

namespace {

using ArgumentKind = MapArgument::Kind;

/// The levels of what an operation is called with, among them the tensors that index.
uint64_t levels_of_indices(ArrayRef<TensorIndex> indices) {
  uint64_t levels = 0;
  for (const TensorIndex& i : indices)
    if (i.kind() == TensorIndex::Kind::Tensor) levels |= mapped_levels(i.tensor());
  return levels;
}

}  // namespace

uint64_t MapCall::collect() {
  uint64_t levels = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (kind(i) == ArgumentKind::Braces) return 0;  // the body calls the same with a list
    const auto add = [&](Tensor& t) {
      if (!t.defined()) return;
      levels |= mapped_levels(t);
      operands.push_back({&t, false, t.dim(), i});
    };
    if (kind(i) == ArgumentKind::Tensor) {
      add(at<Tensor>(i));
    } else if (kind(i) == ArgumentKind::MaybeTensor) {
      if (auto& maybe = at<std::optional<Tensor>>(i)) add(*maybe);
    } else if (kind(i) == ArgumentKind::Tensors) {
      auto& list = at<TensorList>(i);
      auto& own = tensor_lists_.emplace_back(list.begin(), list.end());
      list = own;
      for (Tensor& t : own) add(t);
    } else if (kind(i) == ArgumentKind::Indices) {
      levels |= levels_of_indices(at<ArrayRef<TensorIndex>>(i));
    }
  }
  return levels;
}

void MapCall::take_level() {
  const uint64_t bit = uint64_t{1} << level;
  for (MapOperand& o : operands)
    if ((o.mapped = mapped_levels(*o.tensor) & bit)) *o.tensor = lowered(*o.tensor);
  for (size_t i = 0; i < size(); ++i) {
    if (kind(i) != ArgumentKind::Indices) continue;
    auto& list = at<ArrayRef<TensorIndex>>(i);
    auto& own = index_lists_.emplace_back(list.begin(), list.end());
    list = own;
  }
}

/// A change in place of what all samples share, by what differs between them.
void MapCall::refuse_unmapped_self() const {
  if (!in_place || operands.empty() || operands[0].mapped) return;
  const MapRule rule = find_map_rule(name());
  const bool by_element = rule == map_rules::pointwise || name().starts_with("masked_fill");
  const std::string what = by_element ? "inplace arithmetic" : name_;
  throw UnmappedError(taeda::detail::concat(
      "vmap: ", what,
      "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
      "that has more elements than `self`. This happened due to `other` being vmapped over but "
      "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead "
      "of ",
      what,
      ". If said operator is being called inside the PyTorch framework, please file a bug report "
      "instead."));
}

void MapCall::give_level() {
  for (Tensor& r : results)
    if (r.defined()) r = raised(r, level);
}

bool MapCall::answer() {
  const uint64_t levels = collect();
  depth = static_cast<int8_t>(Maps::depth());
  const bool random = depth > 0 && draws_numbers(*this);
  if (!levels && !random) return false;
  level = random ? depth : innermost_of(levels);
  samples = Maps::samples(level);
  Tensor self;
  if (in_place && !operands.empty()) self = *operands[0].tensor;
  const Maps::Outside outside(level);
  take_level();
  bool differ = true;
  if (random) {
    differ = answer_random(*this, levels >> level & 1);
  } else {
    refuse_unmapped_self();
    const MapRule rule = find_map_rule(name());
    if (!rule || !rule(*this)) loop_over_samples(*this);
  }
  if (in_place && taeda::is_mapped(self)) follow_plain(self);
  if (!in_place && differ) give_level();
  return true;
}

std::vector<Tensor> MapCall::run_by_parts() {
  std::vector<Tensor> out;
  {
    const Maps::Outside inside(depth + 1);
    std::vector<Tensor> given;
    for (MapOperand& o : operands) {
      given.push_back(*o.tensor);
      if (o.mapped) *o.tensor = raised(*o.tensor, level);
    }
    const auto take_back = [&] {
      for (size_t i = 0; i < given.size(); ++i) *operands[i].tensor = given[i];
    };
    try {
      out = run_(operation_, arguments, true);
    } catch (...) {
      take_back();
      throw;
    }
    take_back();
  }
  for (Tensor& r : out)
    if (r.defined()) r = mapped_levels(r) >> level & 1 ? lowered(r) : with_samples(samples, r);
  return out;
}

MapOperand* MapCall::operand(size_t i) {
  for (MapOperand& o : operands)
    if (o.argument == i) return &o;
  return nullptr;
}

void MapCall::expand(MapOperand& o) const {
  if (o.mapped) return;
  *o.tensor = with_samples(samples, *o.tensor);
  o.mapped = true;
}

void MapCall::give(const Tensor& result) {
  if (in_place)
    tensor(0).copy_(result);
  else
    results = {result};
}

void MapCall::expand_all() {
  for (MapOperand& o : operands) expand(o);
}

void MapCall::align(MapOperand& o, int64_t dims) {
  if (!o.mapped || o.dims >= dims) return;
  DimVector sizes(o.tensor->sizes());
  for (int64_t n = o.dims; n < dims; ++n) sizes.insert(1, 1);
  *o.tensor = o.tensor->reshape(sizes);
  o.dims = dims;
}

void MapCall::align_all(int64_t dims) {
  for (MapOperand& o : operands) align(o, dims);
}

int64_t MapCall::most_dims() const {
  int64_t most = 0;
  for (const MapOperand& o : operands) most = std::max(most, o.dims);
  return most;
}

namespace {

/// Index tensors of one sample.
std::vector<TensorIndex> indices_of(ArrayRef<TensorIndex> all, int level, int64_t i) {
  std::vector<TensorIndex> out(all.begin(), all.end());
  for (TensorIndex& index : out) {
    if (index.kind() != TensorIndex::Kind::Tensor) continue;
    if (!(mapped_levels(index.tensor()) >> level & 1)) continue;
    const Tensor plain = lowered(index.tensor());
    index = TensorIndex(i < 0 ? plain.new_zeros(plain.sizes().slice(1)) : plain.select(0, i));
  }
  return out;
}

}  // namespace

void loop_over_samples(MapCall& call, bool same_draws) {
  if (!draws_numbers(call))
    warn_once_of_samples(taeda::detail::concat(
        "There is a performance drop because we have not yet implemented the batching rule for "
        "aten::",
        call.name(), "."));
  std::vector<Tensor> given;
  for (const MapOperand& o : call.operands) given.push_back(*o.tensor);
  std::vector<ArrayRef<TensorIndex>> indices(call.size());
  for (size_t k = 0; k < call.size(); ++k)
    if (call.is(k, ArgumentKind::Indices)) indices[k] = call.at<ArrayRef<TensorIndex>>(k);
  std::vector<std::vector<Tensor>> parts;
  const DrawsAgain draws(same_draws, given);
  // Without samples one of zeros tells the shapes.
  for (int64_t i = 0; i < std::max<int64_t>(call.samples, 1); ++i) {
    draws.again();
    const int64_t at = call.samples ? i : -1;
    if (at < 0 && call.in_place) return;
    for (size_t k = 0; k < given.size(); ++k)
      if (call.operands[k].mapped)
        *call.operands[k].tensor =
            at < 0 ? given[k].new_zeros(given[k].sizes().slice(1)) : given[k].select(0, at);
    for (size_t k = 0; k < call.size(); ++k)
      if (call.is(k, ArgumentKind::Indices))
        call.at<ArrayRef<TensorIndex>>(k) = call.keep(indices_of(indices[k], call.level, at));
    std::vector<Tensor> made = call.run();
    parts.resize(made.size());
    for (size_t k = 0; k < made.size(); ++k) parts[k].push_back(std::move(made[k]));
  }
  for (const std::vector<Tensor>& part : parts)
    call.results.push_back(!part[0].defined() ? Tensor()
                           : call.samples     ? stack(part, 0)
                                              : stack(part, 0).narrow(0, 0, 0));
}

}  // namespace taeda::inline v0_2
