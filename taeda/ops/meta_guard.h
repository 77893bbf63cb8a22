// Modules and tensors of shapes alone, whoever makes them.
#pragma once

#include "taeda/tensor/options.h"

namespace taeda::inline v0_2 {

/// While one lives, functions of the calling thread that make tensors (`empty`, `rand`, `arange`,
/// ...) make them on meta where their options name no device, as under Python's
/// `with torch.device("meta"):`. So a module of any size is made without memory:
///
///     const auto model = [] { MetaGuard guard; return models::resnet152(); }();
class MetaGuard {
 public:
  MetaGuard();
  ~MetaGuard();
  MetaGuard(const MetaGuard&) = delete;
  MetaGuard& operator=(const MetaGuard&) = delete;

  /// Whether the calling thread is inside of one.
  static bool is_active();

 private:
  bool previous_;
};

namespace detail {
/// The device of options, or where tensors go that name none.
Device device_of(const TensorOptions& options);
}  // namespace detail

}  // namespace taeda::inline v0_2
