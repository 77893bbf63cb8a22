// A limit to how many layers there can be.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::detail {

/// Throws Error at once where no process can hold `num_layers` layers with such parameters.
inline void check_layer_count(int64_t num_layers, const std::vector<Tensor>& parameters) {
  constexpr int64_t object = 1024, addresses = int64_t{1} << 47;  // bytes of a layer and a process
  CheckedInt each = object;
  for (const Tensor& p : parameters)
    if (p.defined() && !p.is_meta()) each = each + CheckedInt(p.numel()) * p.element_size();
  const CheckedInt all = each * num_layers;
  TAEDA_CHECK(all.representable() && all.value("num_layers") <= addresses,
              "num_layers=", num_layers, " layers of ", each.value("num_layers"),
              " bytes are more than a process can hold");
}

}  // namespace taeda::inline v0_2::nn::detail
