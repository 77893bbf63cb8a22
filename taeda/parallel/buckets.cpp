#include "taeda/parallel/buckets.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/write_out.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/parts.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

constexpr int64_t kAlignment = 64;

/// Tensors of one dtype and device that stay together.
struct Unit {
  std::vector<size_t> members;
  int64_t bytes = 0;
};

/// The entry of `list` that a tensor may join, from the end; otherwise a new one.
Unit& one_like(std::vector<Unit>& list, const Tensor& t, const std::vector<Tensor>& tensors) {
  for (size_t i = list.size(); i-- > 0;) {
    const Tensor& other = tensors[list[i].members[0]];
    if (other.device() == t.device() && other.dtype() == t.dtype()) return list[i];
  }
  return list.emplace_back();
}

void join(Unit& to, const Unit& unit) {
  to.members.insert(to.members.end(), unit.members.begin(), unit.members.end());
  to.bytes += unit.bytes;
}

}  // namespace

std::vector<std::vector<size_t>> make_buckets(const std::vector<Tensor>& tensors,
                                              const std::vector<size_t>& order,
                                              const std::vector<size_t>& groups,
                                              const BucketLimits& limits) {
  TAEDA_CHECK(groups.size() == tensors.size(), "make_buckets: got ", tensors.size(),
              " tensors and ", groups.size(), " groups");
  std::vector<Unit> buckets;
  for (size_t i = 0; i < order.size();) {
    std::vector<Unit> units;
    for (const size_t group = groups[order[i]]; i < order.size() && groups[order[i]] == group; ++i)
      join(one_like(units, tensors[order[i]], tensors), {{order[i]}, tensors[order[i]].nbytes()});
    for (const Unit& unit : units) {
      Unit& last = one_like(buckets, tensors[unit.members[0]], tensors);
      const int64_t limit = &last == &buckets[0] ? limits.first : limits.others;
      const bool full = !last.members.empty() && last.bytes + unit.bytes > limit;
      join(full ? buckets.emplace_back() : last, unit);
    }
  }
  std::vector<std::vector<size_t>> out;
  for (Unit& bucket : buckets) out.push_back(std::move(bucket.members));
  return out;
}

FlatLayout::FlatLayout(const std::vector<Tensor>& tensors) {
  TAEDA_CHECK(!tensors.empty(), "FlatLayout: expected at least one tensor");
  dtype_ = tensors[0].dtype();
  for (size_t i = 0; i < tensors.size(); ++i) {
    TAEDA_CHECK(tensors[i].dtype() == dtype_, "FlatLayout: expected tensors of one dtype, got ",
                to_string(dtype_), " and ", to_string(tensors[i].dtype()));
    parts_.push_back(Layout{tensors[i].sizes(), strides_like(tensors[i].layout()), 0});
    order_.push_back(i);
  }
  std::stable_partition(order_.begin(), order_.end(),
                        [&](size_t i) { return tensors[i].nbytes() % kAlignment == 0; });
  for (const size_t i : order_) {
    parts_[i].offset = numel_;
    numel_ += tensors[i].numel();
  }
}

bool FlatLayout::fits(const std::vector<Tensor>& tensors) const {
  if (tensors.size() != parts_.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].dtype() != dtype_ || tensors[i].layout().sizes != parts_[i].sizes ||
        strides_like(tensors[i].layout()) != parts_[i].strides)
      return false;
  return true;
}

Tensor FlatLayout::allocate(Device device) const { return make_tensor({numel_}, dtype_, device); }

/// The elements as one vector, which shares the tensor's memory if that is laid out so.
Tensor FlatLayout::in_order_of_memory(const Tensor& t, size_t i) const {
  const Layout& wanted = parts_[i];
  Tensor source = t;
  if (!(t.layout().strides == wanted.strides)) {
    source = make_tensor(Layout{wanted.sizes, wanted.strides, 0}, dtype_, t.device());
    source.copy_(t);
  }
  return make_alias(source, Layout{{source.numel()}, {1}, source.storage_offset()}, dtype_);
}

std::vector<Tensor> FlatLayout::vectors(const std::vector<Tensor>& tensors) const {
  std::vector<Tensor> out;
  for (const size_t i : order_) out.push_back(in_order_of_memory(tensors[i], i));
  return out;
}

Tensor FlatLayout::flatten(const std::vector<Tensor>& tensors) const {
  const NoGradGuard values_only;
  if (tensors.size() == 1) return in_order_of_memory(tensors[0], 0);
  return cat(vectors(tensors), 0);
}

void FlatLayout::write(const Tensor& flat, const std::vector<Tensor>& tensors) const {
  const NoGradGuard values_only;
  Tensor values = make_alias(flat, Layout{{numel_}, {1}, flat.storage_offset()}, dtype_);
  taeda::detail::compute_out("cat", values, [&] { return cat(vectors(tensors), 0); });
}

Tensor FlatLayout::part(const Tensor& flat, size_t i) const {
  Layout layout = parts_[i];
  layout.offset += flat.storage_offset();
  return make_part(flat, std::move(layout));
}

}  // namespace taeda::nn::parallel
