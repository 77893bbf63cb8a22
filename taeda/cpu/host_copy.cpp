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
  Tensor target = lent(to, to_layout, dtype);
  const Tensor source = lent(from, from_layout, dtype);
  Tensor* const outputs[] = {&target};
  const Operand inputs[] = {source};
  copy_slot(kCPU, Iter(op, outputs, {dtype}, inputs, dtype));
}

}  // namespace taeda::inline v0_2::cpu
