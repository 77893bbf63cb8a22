// Sparse tensors and tensors without data where they cannot be used.
#include "taeda/io/dlpack.h"
#include "taeda/taeda.h"
#include "tests/ops/wrong_calls/inputs.h"

namespace taeda::wrong {
namespace {

const std::vector<Row> wrong_sparse_1 = {
    REFUSED(NotImplementedError, fft::fft(sparse_vector()),
            "Could not run 'fft::fft' with arguments from the 'SparseCPU' backend: it"),
    REFUSED(Error, linalg::inv(sparse_matrix()),
            "copy_() between dense and sparse Tensors is not implemented! Found self"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 9}).view({1, 2}), ones({2}), {4}),
            "size is inconsistent with indices: for dim 0, size is 4 but found index 9"),
    REFUSED(Error, sparse_coo_tensor(longs({0, -1}).view({1, 2}), ones({2}), {4}),
            "found negative index -1 for dim 0"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 1}).view({1, 2}), ones({3}), {4}),
            "indices and values must have same nnz, but got nnz from indices: 2, nnz"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 1}), ones({2}), {4}),
            "indices must be sparse_dim x nnz, but got: [2]"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 1}).view({1, 2}), ones({2}), {4, 4}),
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = 2,"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 1}).view({1, 2}), ones({2}), {-4}),
            "Trying to create tensor with negative dimension -4: [-4]"),
    REFUSED(Error, sparse_coo_tensor({kHuge, kHuge, kHuge}),
            "numel: integer multiplication overflow"),
    REFUSED(Error, sparse_coo_tensor({kHuge, kHuge}).to_dense(),
            "numel: integer multiplication overflow"),
    REFUSED(Error, sparse_coo_tensor({-1}),
            "Trying to create tensor with negative dimension -1: [-1]"),
    REFUSED(Error, sparse_coo_tensor(Tensor(), ones({2})),
            "sparse_coo_tensor(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(Error, sparse_coo_tensor(longs({0, 1}).view({1, 2}), Tensor()),
            "sparse_coo_tensor(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(Error, sparse_coo_tensor(longs({INT64_MAX, 1}).view({1, 2}), ones({2})),
            "sparse_coo_tensor: integer overflow"),
    REFUSED(Error, sparse_coo_tensor(longs({-1, 1}).view({1, 2}), ones({2})),
            "found negative index -1 for dim 0"),
    REFUSED(Error,
            sparse_coo_tensor(longs({kHuge, kHuge, 1, 1}).view({2, 2}), ones({2})).coalesce(),
            "numel: integer multiplication overflow"),
    REFUSED(Error, sparse_coo_tensor(longs({kHuge, 0}).view({1, 2}), ones({2})).to_dense(),
            "Storage size calculation overflowed with sizes=[4611686018427387905]"),
    REFUSED(IndexError,
            _sparse_coo_tensor_unsafe(longs({0, 99}).view({1, 2}), ones({2}), {4}).to_dense(),
            "index out of range in self"),
    REFUSED(
        IndexError,
        sparse::mm(_sparse_coo_tensor_unsafe(longs({0, 99, 99, 0}).view({2, 2}), ones({2}), {4, 4}),
                   square()),
        "index out of range in self"),
    REFUSED(IndexError,
            _sparse_coo_tensor_unsafe(longs({0, -5}).view({1, 2}), ones({2}), {4}).to_dense(),
            "index out of range in self"),
    REFUSED(Error, _sparse_coo_tensor_unsafe(longs({0, 1}).view({1, 2}), ones({5}), {4}).to_dense(),
            "indices and values must have same nnz, but got nnz from indices: 2, nnz"),
    REFUSED(Error, sparse_coo_tensor(longs({1, 1}).view({1, 2}), ones({2}), {4}, {}).values(),
            "Cannot get values on an uncoalesced tensor, please call .coalesce() first"),
    REFUSED(Error, sparse_vector().indices(),
            "Cannot get indices on an uncoalesced tensor, please call .coalesce() first"),
    REFUSED(NotImplementedError, sparse_vector().view({2, 2}),
            "Could not run 'view' with arguments from the 'SparseCPU' backend: it takes"),
    REFUSED(NotImplementedError, sparse_vector().data_ptr(),
            "Could not run 'data_ptr' with arguments from the"),
};

const std::vector<Row> wrong_sparse_2 = {
    REFUSED(NotImplementedError, sparse_vector().data_ptr<float>(),
            "Could not run 'data_ptr' with arguments from the"),
    REFUSED(Error, sparse_vector().item(),
            "a Tensor with 4 elements cannot be converted to Scalar"),
    REFUSED(Error, sparse_vector() + numbers(),
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead."),
    REFUSED(Error, sparse_vector() * sparse_matrix(),
            "mul: expected 'self' and 'other' to have same sizes, but [4] != [4, 4]"),
    REFUSED(Error, sparse_vector().add_(numbers()),
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead."),
    REFUSED(NotImplementedError, sparse_vector().exp(),
            "Could not run 'exp' with arguments from the 'SparseCPU' backend: it takes"),
    REFUSED(Error, sparse_vector().as_strided({2}, {1}), "Tensor: invalid storage offset -1"),
    REFUSED(NotImplementedError, sparse_vector().contiguous(),
            "Could not run 'contiguous' with arguments from the 'SparseCPU' backend: it"),
    REFUSED(IndexError, sparse_vector().index_select(0, longs({9})), "index out of range in self"),
    REFUSED(Error, sparse_vector().narrow(0, 3, 9),
            "start (3) + length (9) exceeds dimension size (4)."),
    REFUSED(Error, sparse_vector().requires_grad_().backward(),
            "grad can be implicitly created only for scalar outputs, but got an output"),
    REFUSED(Error, sparse::mm(sparse_vector(), sparse_vector()),
            "mm: Expected 2D (or 0D) tensors, but got mat1 of 1D"),
    REFUSED(Error, sparse::mm(sparse_matrix(), rand({3, 3})),
            "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x3)"),
    REFUSED(Error, sparse::mm(numbers(), sparse_matrix()),
            "mm: Expected 2D (or 0D) tensors, but got mat1 of 1D"),
    REFUSED(Error, sparse::addmm(square(), sparse_matrix(), rand({3, 3})),
            "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x3)"),
    REFUSED(IndexError, sparse::sum(sparse_matrix(), {5}),
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    REFUSED(Error, sparse::sum(sparse_matrix(), {0, 0}),
            "dim 0 appears multiple times in the list of dims"),
    REFUSED(IndexError, sparse::softmax(sparse_matrix(), 5),
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    REFUSED(Error, sparse::softmax(square(), 0), "sparse softmax expected a sparse tensor"),
    REFUSED(IndexError, sparse::log_softmax(sparse_matrix(), -9),
            "Dimension out of range (expected to be in range of [-2, 1], but got -9)"),
    REFUSED(Error, smm(square(), square()), "hspmm: expected a sparse and a dense matrix"),
    REFUSED(Error, hspmm(square(), square()), "hspmm: expected a sparse and a dense matrix"),
    REFUSED(Error, sspaddmm(sparse_matrix(), sparse_matrix(), rand({3, 3})),
            "mat1 and mat2 shapes cannot be multiplied (4x4 and 3x3)"),
    REFUSED(
        Error,
        [] {
          Tensor t = sparse_matrix();
          copy_sparse_to_sparse_(t, square());
        }(),
        "copy_sparse_to_sparse_ expected sparse coordinate tensor layout but got"),
    REFUSED(Error, conv2d(sparse_matrix(), sparse_matrix()),
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of"),
};

const std::vector<Row> wrong_sparse_3 = {
    REFUSED(NotImplementedError, sparse_vector().sort(),
            "Could not run 'sort' with arguments from the 'SparseCPU' backend: it takes"),
    REFUSED(Error, cat({sparse_vector(), numbers()}),
            "Concatenating sparse tensors, but a dense tensor was found at position 1."),
    REFUSED(Error, sparse_vector().copy_(numbers()),
            "copy_() between dense and sparse Tensors is not implemented! Found self"),
    REFUSED(Error, numbers().copy_(sparse_vector()),
            "copy_() between dense and sparse Tensors is not implemented! Found self"),
    REFUSED(NotImplementedError, sparse_vector().resize_({9}),
            "Could not run 'resize_' with arguments from the 'SparseCPU' backend: it"),
    REFUSED(Error, sparse_matrix().permute({0, 0}),
            "dim 0 appears multiple times in the list of dims"),
    REFUSED(IndexError, sparse_matrix().transpose(0, 5),
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    REFUSED(NotImplementedError, sparse_vector().fill_(1),
            "Could not run 'fill_' with arguments from the 'SparseCPU' backend: it takes"),
    REFUSED(
        ValueError,
        [] {
          std::ostringstream o;
          save(sparse_vector(), o);
        }(),
        "the tensor 'tensor' is sparse, but files hold dense tensors: save its"),
    REFUSED(Error, sparse_vector().sparse_mask(numbers()),
            "sparse_mask expected sparse coordinate tensor layout but got Strided"),
    REFUSED(Error, numbers().sparse_mask(sparse_matrix()),
            "sparse_mask(): operands have incompatible sizes; self has size [4] but mask"),
    REFUSED(Error, square().to_sparse(-1),
            "dense_to_sparse: sparse_dim argument must be in [0,2] range, but -1 is given"),
    REFUSED(Error, square().to_sparse(3),
            "dense_to_sparse: sparse_dim argument must be in [0,2] range, but 3 is given"),
    REFUSED(Error, sparse_vector().sparse_resize_({2}, 1, 0),
            "shrinking the size of sparse dimensions (from [4] to [2]) on a non-empty"),
    REFUSED(Error, sparse_vector().sparse_resize_({-2}, 1, 0),
            "shrinking the size of sparse dimensions (from [4] to [-2]) on a non-empty"),
    REFUSED(Error, zeros({2}, Device("meta")).item(),
            "a Tensor with 2 elements cannot be converted to Scalar"),
    REFUSED(NotImplementedError, zeros({2}, Device("meta")).data_ptr<float>(),
            "The tensor has a non-zero number of elements, but its data is not"),
    REFUSED(NotImplementedError, zeros({2}, Device("meta")).to(kCPU),
            "Cannot copy out of meta tensor; no data!"),
    REFUSED(NotImplementedError, nonzero(zeros({2}, Device("meta"))),
            "nonzero: attempted to run this operator with Meta tensors, but its result"),
    REFUSED(Error, zeros({2}, Device("meta")) + zeros({2}),
            "Expected all tensors to be on the same device, but found at least two"),
    REFUSED(NotImplementedError, zeros({2}).copy_(zeros({2}, Device("meta"))),
            "Cannot copy out of meta tensor; no data!"),
    REFUSED(Error, zeros({kHuge}, Device("meta")),
            "Storage size calculation overflowed with sizes=[4611686018427387904]"),
    REFUSED(Error, zeros({kHuge, 4}, Device("meta")),
            "Storage size calculation overflowed with sizes=[4611686018427387904, 4]"),
    REFUSED(
        Error,
        zeros({1 << 30, 1 << 30}, Device("meta")).view({1 << 30, 1 << 29, -1}).repeat({4, 1, 1}),
        "Storage size calculation overflowed with sizes=[4, 1073741824, 1,"),
    REFUSED(Error, zeros({1 << 30, 1 << 28}, Device("meta")).repeat({1 << 20, 1}),
            "numel: integer multiplication overflow"),
};

const std::vector<Row> wrong_sparse_4 = {
    REFUSED(NotImplementedError, unique_dim(zeros({2}, Device("meta")), 0),
            "unique_dim: attempted to run this operator with Meta tensors, but its"),
    REFUSED(NotImplementedError, zeros({2}, Device("meta")).equal(zeros({2}, Device("meta"))),
            "equal: attempted to run this operator with Meta tensors, but its result"),
    REFUSED(NotImplementedError,
            zeros({2}, Device("meta"))
                .masked_select(zeros({2}, TensorOptions(kBool).device(Device("meta")))),
            "masked_select: attempted to run this operator with Meta tensors, but its"),
    REFUSED(NotImplementedError, bincount(zeros({2}, TensorOptions(kLong).device(Device("meta")))),
            "bincount: attempted to run this operator with Meta tensors, but its result"),
    REFUSED(Error, repeat_interleave(zeros({2}, TensorOptions(kLong).device(Device("meta")))),
            "cannot repeat_interleave a meta tensor without output_size"),
};

TEST(WrongSparse, AreRefused) {
  check(wrong_sparse_1);
  check(wrong_sparse_2);
  check(wrong_sparse_3);
  check(wrong_sparse_4);
}

}  // namespace
}  // namespace taeda::wrong
