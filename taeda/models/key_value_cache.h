// Keys and values of the tokens that a decoder of text has seen, so that the next token costs its
// own work and not that of the whole text (models/gpt.h).
#pragma once

#include <utility>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::models {

/// The sizes of a KeyValueCache. {.layers, .heads, .capacity, .head_width} have no defaults and
/// must be positive.
struct KeyValueCacheOptions {
  int64_t layers = 0, heads = 0;
  int64_t capacity = 0;    ///< the most tokens of a text, at least 1
  int64_t head_width = 0;  ///< the size of a head, at least 1
  int64_t batch_size = 1;  ///< how many texts there are, at least 1
  ScalarType dtype = kFloat;
  Device device = kCPU;
};

/// Keys and values of attention by layer, (batch_size, heads, length, head_width) each, for texts
/// that grow. What Hugging Face calls StaticCache: memory for `capacity` tokens is taken at once
/// and none afterwards. It keeps no gradients. One thread at a time.
class KeyValueCache {
 public:
  /// Throws ValueError for sizes below 1 or a dtype that is not floating.
  explicit KeyValueCache(const KeyValueCacheOptions& options);
  KeyValueCache(KeyValueCache&&) noexcept = default;
  KeyValueCache& operator=(KeyValueCache&&) noexcept = default;
  // A copy would share memory and not know what the other one writes there.
  KeyValueCache(const KeyValueCache&) = delete;
  KeyValueCache& operator=(const KeyValueCache&) = delete;
  /// The same texts in memory of its own, of the same sizes.
  KeyValueCache clone() const;

  const KeyValueCacheOptions& options() const { return options_; }
  /// How many tokens each text has so far, at most the capacity.
  int64_t length() const { return length_; }
  /// How many tokens a text has at most, and how many texts there are: sizes of the memory.
  int64_t capacity() const { return options_.capacity; }
  int64_t batch_size() const { return options_.batch_size; }
  /// Forgets what follows the first `length` tokens. Throws ValueError if there are fewer.
  void truncate(int64_t length);
  /// Forgets all tokens and keeps the memory; the length is 0, so texts are empty.
  void clear() { length_ = 0; }

  /// Views of a layer's keys and values so far. Throws IndexError for a layer that is not there.
  std::pair<Tensor, Tensor> layer(int64_t layer) const;

  /// Writes keys and values (batch_size, heads, T, head_width) of the next T tokens of a layer and
  /// returns those of all tokens up to them, as views. `advance` counts the tokens when all layers
  /// have theirs. Throws Error if they do not fit in, want a gradient, or have another shape, dtype
  /// (except under autocast) or device; and while a graph is captured, which would write to the
  /// same place for ever: `update_at` is for that.
  std::pair<Tensor, Tensor> update(int64_t layer, const Tensor& keys, const Tensor& values);
  /// Writes them where `positions` (T), int64 on the cache's device, says when it runs, and returns
  /// the whole memory, (batch_size, heads, capacity, head_width): a mask must tell which positions
  /// hold something. Can be captured. Throws as `update`, and IndexError for positions beyond
  /// `capacity`.
  std::pair<Tensor, Tensor> update_at(int64_t layer, const Tensor& keys, const Tensor& values,
                                      const Tensor& positions);
  /// Counts `tokens` more of each text. Throws Error if they do not fit in.
  void advance(int64_t tokens);
  /// Throws Error unless `tokens` more of each text fit in.
  void check_room(int64_t tokens) const;

 private:
  struct Layer {
    Tensor keys, values;
  };
  const Layer& at(int64_t layer) const;
  void check(int64_t layer, const Tensor& keys, const Tensor& values) const;

  KeyValueCacheOptions options_;
  int64_t length_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace taeda::models
