// The state of all random numbers that a program draws without naming a generator.
#pragma once

#include <string>

#include "taeda/base/ordered_dict.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::io {

/// The default generators of the CPU and of every accelerator, as a part of a checkpoint:
///
///     checkpoint.put("random", io::RandomState());
///     io::RandomState random;
///     checkpoint.get("random", random);
struct RandomState {
  /// Bytes (uint8) by device: "cpu", "cuda:0", ...; what they are now.
  OrderedDict<std::string, Tensor> state_dict() const;
  /// Sets the generators. Devices that are not here are passed over. Throws ValueError, changing
  /// nothing, when the CPU's is missing or bytes are no state of such a generator.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);
};

}  // namespace taeda::io
