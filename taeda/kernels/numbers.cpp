#include "taeda/kernels/numbers.h"

#include "taeda/base/error.h"

namespace taeda {

Numbers::Numbers(const Tensor& t)
    : device_(t.device()), data_(t.data_ptr<double>()), count_(t.numel()) {
  TAEDA_CHECK(t.is_contiguous(), "numbers for a kernel must be contiguous, but got strides ",
              t.strides());
}

void Numbers::check(const char* what, Device device, int64_t count) const {
  TAEDA_CHECK(device_ == device && count_ >= count, what, ": expected ", count, " numbers on ",
              device, ", but got ", count_, " on ", device_);
}

}  // namespace taeda
