// Rows of operations with sparse tensors, whose results are compared as dense ones. The indices are
// given, but for those that values decide.
#include "taeda/ops/create/tensor_literal.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/sparse/sparse.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// A [3, 4] matrix with these values at (0, 3), (1, 0), (1, 2), (2, 2).
constexpr int64_t kAt[4][2] = {{0, 3}, {1, 0}, {1, 2}, {2, 2}};

Tensor matrix(const Tensor& values) {
  const Tensor indices = tensor({{0, 1, 1, 2}, {3, 0, 2, 2}}).to(values.device());
  return sparse_coo_tensor(indices, values, {3, 4}, {}, /*is_coalesced=*/true);
}

/// The same in compressed rows.
Tensor matrix_in_rows(const Tensor& values) {
  return sparse_csr_tensor(tensor({0, 1, 3, 4}).to(values.device()),
                           tensor({3, 0, 2, 2}).to(values.device()), values, {3, 4});
}

Array dense(const Array& values) {
  Array out{{3, 4}, std::vector<double>(12)};
  for (size_t i = 0; i < 4; ++i) out.at({kAt[i][0], kAt[i][1]}) = values.data[i];
  return out;
}

/// The product of the matrix with these values and another, times `alpha` behind `start`.
Array product(const Array& values, const Array& b, Array start, double alpha = 1) {
  const Array a = dense(values);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < b.sizes[1]; ++j)
      for (int64_t k = 0; k < 4; ++k) start.at({i, j}) += alpha * a.at({i, k}) * b.at({k, j});
  return start;
}

Array nothing() { return {{3, 2}, std::vector<double>(6)}; }

OpRow row_of(std::string name, std::vector<Arg> sample, std::function<Tensor(const Tensors&)> call,
             std::function<Array(const Arrays&)> reference, std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.call = [call](const Tensors& t) { return Tensors{call(t)}; };
  row.samples = {std::move(sample)};
  row.reference = [reference](const Arrays& in) { return Arrays{reference(in)}; };
  row.covers = std::move(covers);
  return row;
}

}  // namespace

std::vector<OpRow> sparse_rows() {
  const auto times = [](const Arrays& in) { return product(in[0], in[1], nothing()); };
  const std::vector<Arg> factors = {real({4}), real({4, 2})};
  std::vector<OpRow> rows = {
      row_of(
          "sparse_coo_tensor", {real({4})},
          [](const Tensors& t) { return matrix(t[0]).to_dense(); },
          [](const Arrays& in) { return dense(in[0]); }, {"to_dense"}),
      row_of(
          "sparse_mask", {real({3, 4})},
          [](const Tensors& t) { return t[0].sparse_mask(matrix(t[0].select(0, 0))).values(); },
          [](const Arrays& in) {
            Array out{{4}, {}};
            for (const auto& at : kAt) out.data.push_back(in[0].at({at[0], at[1]}));
            return out;
          },
          {"values"}),
      row_of(
          "to_sparse", {real({3, 2})},
          [](const Tensors& t) { return t[0].to_sparse().coalesce().to_dense(); },
          [](const Arrays& in) { return in[0]; }, {"coalesce"}),
      row_of(
          "mm.sparse", factors, [](const Tensors& t) { return matrix(t[0]).mm(t[1]); }, times),
      row_of(
          "sparse_csr_tensor", {real({4})},
          [](const Tensors& t) { return matrix_in_rows(t[0]).to_dense(); },
          [](const Arrays& in) { return dense(in[0]); }),
      row_of(
          "to_sparse_csr", {real({3, 2})},
          [](const Tensors& t) { return t[0].to_sparse_csr().to_dense(); },
          [](const Arrays& in) { return in[0]; }),
      row_of(
          "mm.sparse_csr", factors, [](const Tensors& t) { return matrix_in_rows(t[0]).mm(t[1]); },
          times),
      row_of(
          "sampled_addmm", {real({4}), real({3, 2}), real({2, 4})},
          [](const Tensors& t) {
            return sparse::sampled_addmm(matrix_in_rows(t[0]), t[1], t[2], 2, 0.5).values();
          },
          [](const Arrays& in) {
            Array out{{4}, std::vector<double>(4)};
            for (size_t i = 0; i < 4; ++i) {
              out.data[i] = 2 * in[0].data[i];
              for (int64_t k = 0; k < 2; ++k)
                out.data[i] += 0.5 * in[1].at({kAt[i][0], k}) * in[2].at({k, kAt[i][1]});
            }
            return out;
          }),
      row_of(
          "hspmm", factors, [](const Tensors& t) { return hspmm(matrix(t[0]), t[1]).to_dense(); },
          times),
      row_of(
          "smm", factors, [](const Tensors& t) { return smm(matrix(t[0]), t[1]).to_dense(); },
          times),
      row_of(
          "sspaddmm", {real({3, 2}), real({4}), real({4, 2})},
          [](const Tensors& t) {
            const Tensor factor = matrix(t[1]);  // first: captures name what refuses first
            return sspaddmm(t[0].to_sparse(), factor, t[2], 2, 0.5).to_dense();
          },
          [](const Arrays& in) {
            Array start = in[0];
            for (double& v : start.data) v *= 2;
            return product(in[1], in[2], start, 0.5);
          }),
  };
  return rows;
}

}  // namespace taeda::testing
