#include "taeda/models/key_value_cache.h"

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::models {

KeyValueCache::KeyValueCache(const KeyValueCacheOptions& o) : options_(o) {
  for (const int64_t size : {o.layers, o.batch_size, o.heads, o.capacity, o.head_width})
    TAEDA_CHECK_VALUE(size > 0, "KeyValueCache expects sizes above 0, got layers = ", o.layers,
                      ", batch_size = ", o.batch_size, ", heads = ", o.heads,
                      ", capacity = ", o.capacity, ", head_width = ", o.head_width);
  TAEDA_CHECK_VALUE(is_floating_point(o.dtype), "KeyValueCache expects a floating dtype, got ",
                    to_string(o.dtype));
  // No inference tensors, which could only be written in inference mode. Zeros, because what a mask
  // hides is multiplied by 0, and whatever lay there before might be NaN.
  const InferenceMode usual(false);
  const NoGradGuard no_grad;
  const auto memory = [&] {
    return zeros({o.batch_size, o.heads, o.capacity, o.head_width},
                 TensorOptions(o.dtype).device(o.device));
  };
  for (int64_t i = 0; i < o.layers; ++i) layers_.push_back({memory(), memory()});
}

KeyValueCache KeyValueCache::clone() const {
  KeyValueCache out(options_);
  const NoGradGuard no_grad;
  for (size_t i = 0; i < layers_.size(); ++i) {
    out.layers_[i].keys.copy_(layers_[i].keys);
    out.layers_[i].values.copy_(layers_[i].values);
  }
  out.length_ = length_;
  return out;
}

void KeyValueCache::truncate(int64_t length) {
  TAEDA_CHECK_VALUE(length >= 0 && length <= length_, "KeyValueCache holds ", length_,
                    " tokens and cannot be truncated to ", length);
  length_ = length;
}

const KeyValueCache::Layer& KeyValueCache::at(int64_t layer) const {
  TAEDA_CHECK_INDEX(layer >= 0 && layer < options_.layers, "KeyValueCache has ", options_.layers,
                    " layers, got layer ", layer);
  return layers_[static_cast<size_t>(layer)];
}

std::pair<Tensor, Tensor> KeyValueCache::layer(int64_t layer) const {
  const Layer& l = at(layer);
  return {l.keys.narrow(2, 0, length_), l.values.narrow(2, 0, length_)};
}

void KeyValueCache::check_room(int64_t tokens) const {
  TAEDA_CHECK(tokens >= 0 && tokens <= options_.capacity - length_,
              "KeyValueCache is full: it holds ", length_, " of at most ", options_.capacity,
              " tokens and cannot take ", tokens, " more");
}

void KeyValueCache::advance(int64_t tokens) {
  check_room(tokens);
  length_ += tokens;
}

void KeyValueCache::check(int64_t layer, const Tensor& keys, const Tensor& values) const {
  at(layer);
  const KeyValueCacheOptions& o = options_;
  for (const Tensor* t : {&keys, &values}) {
    const bool fits = t->dim() == 4 && t->size(0) == o.batch_size && t->size(1) == o.heads &&
                      t->size(3) == o.head_width && t->size(2) == keys.size(2);
    TAEDA_CHECK(fits, "KeyValueCache expects keys and values of shape [", o.batch_size, ", ",
                o.heads, ", tokens, ", o.head_width, "], got ", keys.sizes(), " and ",
                values.sizes());
    TAEDA_CHECK(t->device() == o.device, "KeyValueCache lies on ", o.device,
                ", got keys and values on ", t->device());
    TAEDA_CHECK(t->dtype() == o.dtype || AutocastMode::is_active(), "KeyValueCache holds ",
                to_string(o.dtype), ", got keys and values of ", to_string(t->dtype()));
    TAEDA_CHECK(!GradMode::is_enabled() || !t->requires_grad(),
                "KeyValueCache keeps no gradients, and these keys and values want one: call the "
                "network under NoGradGuard or InferenceMode, or without a cache");
  }
}

std::pair<Tensor, Tensor> KeyValueCache::update(int64_t layer, const Tensor& keys,
                                                const Tensor& values) {
  check(layer, keys, values);
  const int64_t tokens = keys.size(2);
  check_room(tokens);
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(options_.device),
              "KeyValueCache: every replay of the graph that is being captured would write to "
              "position ",
              length_, "; give forward the positions as a tensor");
  const Layer& l = at(layer);
  l.keys.narrow(2, length_, tokens).copy_(keys);
  l.values.narrow(2, length_, tokens).copy_(values);
  return {l.keys.narrow(2, 0, length_ + tokens), l.values.narrow(2, 0, length_ + tokens)};
}

std::pair<Tensor, Tensor> KeyValueCache::update_at(int64_t layer, const Tensor& keys,
                                                   const Tensor& values, const Tensor& positions) {
  check(layer, keys, values);
  TAEDA_CHECK(positions.dim() == 1 && positions.dtype() == kLong &&
                  positions.size(0) == keys.size(2) && positions.device() == options_.device,
              "KeyValueCache expects positions [", keys.size(2), "] of int64 on ", options_.device,
              ", got ", positions.sizes(), " of ", to_string(positions.dtype()), " on ",
              positions.device());
  const Layer& l = at(layer);
  l.keys.index_copy_(2, positions, keys.to(options_.dtype));
  l.values.index_copy_(2, positions, values.to(options_.dtype));
  return {l.keys, l.values};
}

}  // namespace taeda::models
