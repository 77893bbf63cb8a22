// What the simulator asserts of every address that kernels and copies are given, before it turns it
// into one that the host can follow. Real hardware faults later, elsewhere, or not at all.
#pragma once

#include <string>

#include "taeda/sim/device.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::sim {

/// Which address of which kernel or copy is looked at.
struct AddressOf {
  const char* kernel;
  size_t argument;   ///< of the kernel, counted from 0
  const char* part;  ///< "input" of an iterator, "tensor"
  int index = 0;     ///< of several such parts
  std::string str() const;
};

/// Throws Error, naming kernel, argument, address and device, unless `bytes` bytes from `p` on lie
/// in memory of the device that was allocated and not given back.
void check_device_memory(const SimDevice& device, const AddressOf& of, const void* p,
                         int64_t bytes);
/// Likewise for a tensor that is on the device: all that its layout reaches is within its storage,
/// and live.
void check_tensor(const SimDevice& device, const AddressOf& of, const Tensor& t);
/// Throws Error if the address is one of a simulated device.
void check_host_memory(const AddressOf& of, const void* p);

}  // namespace taeda::sim
