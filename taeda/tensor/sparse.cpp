#include "taeda/tensor/sparse.h"

#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

Tensor made_of(std::unique_ptr<StorageContent> parts, const Tensor& values, Layout layout) {
  const int64_t numel = checked_numel(layout.sizes);
  auto impl = make_intrusive<TensorImpl>(Storage::without_memory(values.device(), std::move(parts)),
                                         std::move(layout), values.dtype(), numel, false);
  impl->inference = InferenceMode::is_enabled();
  return Tensor(std::move(impl));
}

}  // namespace

Tensor make_sparse(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool coalesced) {
  return made_of(std::make_unique<SparseParts>(make_alias(indices), make_alias(values), coalesced),
                 values, Layout::sparse(sizes));
}

Tensor make_sparse_csr(const Tensor& rows, const Tensor& columns, const Tensor& values,
                       IntArrayRef sizes, bool sorted) {
  return made_of(
      std::make_unique<CsrParts>(make_alias(rows), make_alias(columns), make_alias(values), sorted),
      values, Layout::sparse_csr(sizes));
}

SparseParts& sparse_parts(const TensorBase& t) {
  TAEDA_INTERNAL_ASSERT(t.is_sparse());
  return static_cast<SparseParts&>(*t.storage()->content());
}

CsrParts& csr_parts(const TensorBase& t) {
  TAEDA_INTERNAL_ASSERT(t.is_sparse_csr());
  return static_cast<CsrParts&>(*t.storage()->content());
}

const Tensor& stored_values(const TensorBase& t) {
  return t.is_sparse() ? sparse_parts(t).values : csr_parts(t).values;
}

}  // namespace taeda::inline v0_2
