#include "taeda/tensor/mapped.h"

#include <mutex>
#include <unordered_set>
#include <vector>

#include "taeda/base/warning.h"
#include "taeda/device/draws.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

constexpr const char* kDrawsRefused =
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap";

struct Level {
  int64_t samples;
  Randomness randomness;
};
struct ThreadMaps {
  int depth = 0;
  std::vector<Level> levels;  // little memory of each thread
};
thread_local ThreadMaps maps;

void set_depth(int depth) {
  maps.depth = depth;
  Interceptors::set(Interceptors::kMap, depth > 0);
}

int64_t count(uint64_t levels) { return std::popcount(levels); }

/// How many of `levels` are outside of `level`: where its dimension is.
int64_t place(uint64_t levels, int level) { return count(levels & ((uint64_t{1} << level) - 1)); }

}  // namespace

void MappedParts::refuse() const {
  throw UnmappedError("Cannot access data pointer of Tensor that doesn't have storage");
}

const MappedParts& mapped_parts(const TensorBase& t) {
  TAEDA_INTERNAL_ASSERT(is_mapped(t));
  return static_cast<const MappedParts&>(*t.storage()->content());
}

uint64_t mapped_levels(const TensorBase& t) { return is_mapped(t) ? mapped_parts(t).levels : 0; }

const Tensor& plain_of(const Tensor& t) { return is_mapped(t) ? mapped_parts(t).value : t; }

namespace {

Layout sample_layout(const Tensor& plain, int64_t dims) {
  const IntArrayRef sizes = plain.sizes(), strides = plain.strides();
  Layout out;
  out.sizes = DimVector(sizes.begin() + dims, sizes.end());
  out.strides = DimVector(strides.begin() + dims, strides.end());
  out.offset = plain.storage_offset();
  return out;
}

}  // namespace

Tensor make_mapped(const Tensor& plain, uint64_t levels) {
  if (!levels) return plain;
  TAEDA_CHECK_NOT_IMPLEMENTED(plain.is_strided(), "vmap: sparse tensors cannot be mapped");
  TAEDA_INTERNAL_ASSERT(plain.dim() >= count(levels));
  auto impl = make_intrusive<TensorImpl>(
      Storage::without_memory(plain.device(), std::make_unique<MappedParts>(plain, levels)),
      sample_layout(plain, count(levels)), plain.dtype());
  impl->inference = plain.is_inference();
  impl->base = plain.impl_ptr();
  return Tensor(std::move(impl));
}

void follow_plain(const Tensor& t) {
  const MappedParts& parts = mapped_parts(t);
  t.unsafe_impl()->set_layout(sample_layout(parts.value, count(parts.levels)));
}

Tensor raised(const Tensor& t, int level) {
  const uint64_t levels = mapped_levels(t), bit = uint64_t{1} << level;
  TAEDA_INTERNAL_ASSERT(levels < bit);
  return make_mapped(plain_of(t), levels | bit);
}

Tensor lowered(const Tensor& t) {
  const MappedParts& parts = mapped_parts(t);
  return make_mapped(parts.value, parts.levels & ~(uint64_t{1} << innermost_of(parts.levels)));
}

Tensor expanded_to(const Tensor& t, uint64_t levels) {
  const uint64_t have = mapped_levels(t);
  const uint64_t missing = levels & ~have;
  if (!missing) return t;
  Tensor plain = plain_of(t);
  DimVector sizes(plain.sizes());
  for (uint64_t rest = missing; rest; rest &= rest - 1) {
    const int level = std::countr_zero(rest);
    const int64_t at = place(have | levels, level);
    plain = plain.unsqueeze(at);
    sizes.insert(static_cast<size_t>(at), Maps::samples(level));
  }
  return make_mapped(plain.expand(sizes), have | levels);
}

Tensor levels_as_dims(const Tensor& t, uint64_t levels) {
  if (!levels) return t;
  const MappedParts& parts = mapped_parts(t);
  const uint64_t rest = parts.levels & ~levels;
  if (!rest) return parts.value;
  DimVector order;
  for (const uint64_t set : {rest, levels})
    for (uint64_t l = set; l; l &= l - 1) order.push_back(place(parts.levels, std::countr_zero(l)));
  for (int64_t d = count(parts.levels); d < parts.value.dim(); ++d) order.push_back(d);
  return make_mapped(parts.value.permute(order), rest);
}

Tensor dims_as_levels(const Tensor& t, uint64_t levels) {
  if (!levels) return t;
  const uint64_t have = mapped_levels(t), all = have | levels;
  const Tensor& plain = plain_of(t);
  if (!have) return make_mapped(plain, levels);
  DimVector order;
  for (uint64_t l = all; l; l &= l - 1) {
    const int level = std::countr_zero(l);
    const bool is_own = have >> level & 1;
    order.push_back(is_own ? place(have, level) : count(have) + place(levels, level));
  }
  for (int64_t d = count(all); d < plain.dim(); ++d) order.push_back(d);
  return make_mapped(plain.permute(order), all);
}

void refuse_control_flow() {
  throw UnmappedError(
      "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
      "We don't support that yet.");
}

DimVector with_samples(int64_t samples, IntArrayRef sizes) {
  DimVector out(sizes);
  out.insert(0, samples);
  return out;
}

Tensor with_samples(int64_t samples, const Tensor& t) {
  return t.unsqueeze(0).expand(with_samples(samples, t.sizes()));
}

void warn_once_of_samples(const std::string& text) {
  static std::mutex mutex;
  static auto& warned = *new std::unordered_set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!warned.insert(text).second && !Warning::get_warnAlways()) return;
  }
  TAEDA_WARN(text);
}

int Maps::depth() { return maps.depth; }
int64_t Maps::samples(int level) { return maps.levels[static_cast<size_t>(level)].samples; }
Randomness Maps::randomness(int level) {
  return maps.levels[static_cast<size_t>(level)].randomness;
}

Maps::Scope::Scope(int64_t samples, Randomness randomness)
    : level_(maps.depth + 1), outer_(maps.depth) {
  TAEDA_CHECK(level_ <= kMost, "vmap: at most ", kMost, " maps can be nested");
  draws_ = refuse_draws(randomness == Randomness::Error ? kDrawsRefused : "");
  maps.levels.resize(static_cast<size_t>(level_) + 1);
  maps.levels[static_cast<size_t>(level_)] = {samples, randomness};
  set_depth(level_);
}

Maps::Scope::~Scope() {
  set_depth(outer_);
  refuse_draws(std::move(draws_));
}

Maps::Outside::Outside(int level) : depth_(maps.depth) { set_depth(level - 1); }
Maps::Outside::~Outside() { set_depth(depth_); }

Tensor map_everywhere(const Tensor& t) {
  if (!maps.depth) return t;
  return expanded_to(t, (uint64_t{2} << maps.depth) - 2);
}

}  // namespace taeda::inline v0_2
