#include "taeda/cpu/host_copy.h"

#include <utility>

#include "taeda/kernels/copy.h"
#include "taeda/tensor/iter.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::cpu {

namespace {

Tensor lent(const void* data, const Layout& layout, ScalarType dtype) {
  const auto bytes = static_cast<size_t>(layout.checked_storage_nbytes(element_size(dtype)));
  Storage storage = Storage::from_user(const_cast<void*>(data), bytes, kCPU, nullptr);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout(layout), dtype));
}

}  // namespace

void copy_on_host(const char* op, void* to, const Layout& to_layout, const void* from,
                  const Layout& from_layout, ScalarType dtype) {
  convert_on_host(op, to, to_layout, dtype, from, from_layout, dtype);
}

void convert_on_host(const char* op, void* to, const Layout& to_layout, ScalarType to_dtype,
                     const void* from, const Layout& from_layout, ScalarType from_dtype) {
  Tensor target = lent(to, to_layout, to_dtype);
  const Tensor source = lent(from, from_layout, from_dtype);
  Tensor* const outputs[] = {&target};
  const Operand inputs[] = {source};
  copy_slot(kCPU, Iter(op, outputs, {to_dtype}, inputs, from_dtype));
}

}  // namespace taeda::inline v0_2::cpu
