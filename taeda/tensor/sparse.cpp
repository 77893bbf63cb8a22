#include "taeda/tensor/sparse.h"

#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

Tensor make_sparse(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool coalesced) {
  TAEDA_CHECK(static_cast<int64_t>(sizes.size()) <= kMaxDims, "tensors of more than ", kMaxDims,
              " dimensions are not supported, got ", sizes.size());
  const int64_t numel = checked_numel(sizes);
  auto parts = std::make_unique<SparseParts>(make_alias(indices), make_alias(values), coalesced);
  auto impl = make_intrusive<TensorImpl>(Storage::without_memory(values.device(), std::move(parts)),
                                         Layout::sparse(sizes), values.dtype(), numel, false);
  impl->inference = InferenceMode::is_enabled();
  return Tensor(std::move(impl));
}

SparseParts& sparse_parts(const TensorBase& t) {
  TAEDA_INTERNAL_ASSERT(t.is_sparse());
  return static_cast<SparseParts&>(*t.storage()->content());
}

}  // namespace taeda::inline v0_2
