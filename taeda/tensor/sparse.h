// What a sparse tensor is made of. Not part of the public interface.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Note [Sparse tensors]
/// A sparse tensor has a layout without strides and a storage without memory, in whose place it
/// keeps two dense tensors: the indices of its elements in the first dimensions, and their values,
/// which are dense in the others. An index that is there several times has the sum of its values;
/// a tensor that is known to have each once, in the order of memory, is coalesced.
///
/// Aliases (`detach`) share the storage, so a change in place - which puts other parts there -
/// reaches all of them, and one version counts it. The parts have no history: it is the sparse
/// tensor's own. Views do not exist.
///
/// A matrix in compressed rows (CSR) has three tensors there: where in the others each row begins,
/// the columns, and the values. `SparseParts` are not its own, so `is_sparse()` is false for it and
/// `is_strided()` for both.
///
/// Operations that know sparse tensors ask `is_strided()` first and go on in ops/sparse*.cpp. All
/// others fail where they meet their operands: `Iter`, `Slot`, `make_view`, or at last
/// `StorageImpl::data`, which is Note [Storages without memory] in device/host_copies.h.
struct SparseParts final : StorageContent {
  SparseParts(Tensor i, Tensor v, bool c)
      : indices(std::move(i)), values(std::move(v)), coalesced(c) {}
  Tensor indices;  ///< int64 [sparse dimensions, elements]
  Tensor values;   ///< [elements, sizes of the dense dimensions...]
  bool coalesced;
};

struct CsrParts final : StorageContent {
  CsrParts(Tensor r, Tensor c, Tensor v, bool s)
      : rows(std::move(r)), columns(std::move(c)), values(std::move(v)), sorted(s) {}
  Tensor rows;     ///< int32 or int64 [rows + 1]: elements before each row, and all
  Tensor columns;  ///< the same dtype [elements]
  Tensor values;   ///< [elements, sizes of the dense dimensions...]
  bool sorted;     ///< the columns of each row ascend
};

/// A sparse tensor without a history, of parts that are not looked at; it has the values' dtype and
/// device.
Tensor make_sparse(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool coalesced);
/// The parts of a sparse tensor.
SparseParts& sparse_parts(const TensorBase& t);
/// The same of a matrix in compressed rows.
Tensor make_sparse_csr(const Tensor& rows, const Tensor& columns, const Tensor& values,
                       IntArrayRef sizes, bool sorted);
CsrParts& csr_parts(const TensorBase& t);
/// The values that a sparse tensor of either kind has, as they are.
const Tensor& stored_values(const TensorBase& t);

}  // namespace taeda::inline v0_2
