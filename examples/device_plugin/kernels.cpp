// The toy devices' table of contents: what they have kernels for.
#include <taeda/kernels/all.h>

#include "backend.h"

namespace toy {

namespace {

using namespace taeda;

/// A kernel of our own: every element becomes a number. An Iter gives one-dimensional runs of
/// addresses and strides, whatever the shape.
template <class T>
void fill_with(const Iter& it, T value) {
  it.for_each([value](char** data, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(data[0] + i * strides[0]) = value;
  });
}

void fill(const Iter& it, const FunctorBytes& bytes) {
  const Scalar value = bytes.as<Fill>().value;
  switch (it.common_dtype()) {
    case kFloat: return fill_with(it, value.to<float>());
    case kDouble: return fill_with(it, value.to<double>());
    case kLong: return fill_with(it, value.to<int64_t>());
    default: return pointwise_slot<Fill>.get(kCPU)(it, bytes);
  }
}

}  // namespace

void register_kernels(DeviceType type) {
  // The host's kernels take addresses as they come, and ours are addresses of the host.
  const auto lend = [type]<auto * slot>() { slot->set(type, slot->get(kCPU)); };
  for_each_conv_slot(lend);
  for_each_copy_slot(lend);
  for_each_create_slot(lend);
  for_each_index_slot(lend);
  for_each_join_slot(lend);
  for_each_loss_slot(lend);
  for_each_matmul_slot(lend);
  for_each_norm_slot(lend);
  for_each_optim_slot(lend);
  for_each_pointwise_slot(lend);
  for_each_pool_slot(lend);
  for_each_random_slot(lend);
  for_each_reduce_slot(lend);
  for_each_softmax_slot(lend);
  pointwise_slot<Fill>.set(type, fill);
  // Attention, Fourier transforms, linear algebra, recurrent networks, scans and sorting are left
  // out: such an operation throws NotImplementedError and names itself.
}

}  // namespace toy
