// Every row of the op table, captured on the CPU and replayed on other inputs: the bits of an eager
// call, or an error that names what cannot be captured.
#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/create/create.h"
#include "tests/error_of.h"
#include "tests/ops/op_inputs.h"
#include "tests/ops/row_test.h"

namespace taeda::testing {

void PrintTo(const OpRow& row, std::ostream* out);  // op_table.cpp

namespace {

/// Rows that look at values on their way, or whose gradients do, with the operation that says so:
/// shapes that depend on values, products that may contain zeros, LAPACK's verdicts.
const std::map<std::string, std::string>& rows_of_values() {
  static const std::map<std::string, std::string> rows = {
      {"masked_select", "masked_select"},
      {"quantile", "quantile"},
      {"nanquantile", "nanquantile"},
      {"prod", "backward"},
      {"prod.dim", "backward"},
      {"prod.zeros", "backward"},
      {"cumprod.dim0", "backward"},
      {"cumprod.dim1", "backward"},
      {"istft", "istft"},
      {"solve", "linalg::solve"},
      {"solve.right", "linalg::solve"},
      {"lu_solve", "linalg::lu_factor"},
      {"cholesky_solve", "linalg::cholesky"},
      {"lstsq", "linalg::lstsq"},
      {"inv", "linalg::inv"},
      {"inv.complex", "linalg::inv"},
      {"solve.complex", "linalg::lu_factor"},
      {"det.complex", "backward"},
      {"cholesky.complex", "linalg::cholesky"},
      {"eigh.complex", "linalg::eigh"},
      {"svd.complex", "linalg::svd"},
      {"pinv.complex", "linalg::pinv"},
      {"lstsq.complex", "linalg::lstsq"},
      {"det", "backward"},
      {"cholesky_inverse", "linalg::cholesky"},
      {"pinv", "linalg::pinv"},
      {"pinv.hermitian", "linalg::pinv"},
      {"matrix_power", "linalg::matrix_power"},
      {"matrix_exp", "linalg::matrix_exp"},
      {"cholesky", "linalg::cholesky"},
      {"eigh", "linalg::eigh"},
      {"eigvalsh", "linalg::eigvalsh"},
      {"svd", "linalg::svd"},
      {"svdvals", "linalg::svdvals"},
      {"matrix_rank", "linalg::matrix_rank"},
      {"matrix_norm", "linalg::matrix_norm"},
      {"cond", "linalg::cond"},
      {"lu_solve.of_factors", "linalg::lu_factor"},
      {"tensorsolve", "linalg::tensorsolve"},
      {"tensorinv", "linalg::tensorinv"},
      {"eigvals", "linalg::eigvals"},
      {"eig", "linalg::eig"},
      {"ldl_factor", "linalg::ldl_factor"},
      {"symeig", "symeig"},
      {"symeig.vectors", "symeig"},
      {"sparse_coo_tensor", "sparse_coo_tensor"},
      {"sparse_mask", "sparse_coo_tensor"},
      {"to_sparse", "to_sparse"},
      {"to_sparse_csr", "to_sparse_csr"},
      {"mm.sparse_csr", "backward"},
      {"mm.sparse", "sparse_coo_tensor"},
      {"hspmm", "sparse_coo_tensor"},
      {"smm", "sparse_coo_tensor"},
      {"sspaddmm", "sparse_coo_tensor"},
      {"masked_scatter", "masked_scatter"}};
  return rows;
}

class Captured : public RowTest {};

/// The elements' bytes in row-major order, with the form.
std::string bits(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::string out = detail::concat(t.sizes(), t.dtype(), ":");
  if (t.is_sparse()) return out + bits(t.detach().to_dense());
  const Tensor c = t.detach().contiguous();
  out.append(static_cast<const char*>(c.data_ptr()), static_cast<size_t>(c.nbytes()));
  return out;
}

std::vector<std::string> bits(const Tensors& list) {
  std::vector<std::string> out;
  for (const Tensor& t : list) out.push_back(bits(t));
  return out;
}

/// The result, and the gradients of all inputs that have one.
Tensors run(const OpRow& row, const Tensors& in, bool differentiate) {
  Tensors out = row.call(in);
  if (!differentiate) return out;
  out[0].backward(full(out[0].sizes(), 0.75, out[0].options().requires_grad(false)));
  out.resize(1);
  for (const Tensor& t : in)
    if (t.requires_grad()) out.push_back(t.grad());
  return out;
}

Tensors leaves_of(const Tensors& in, bool differentiate) {
  Tensors out;
  for (const Tensor& t : in)
    out.push_back(t.detach().clone().requires_grad_(differentiate && t.is_floating_point()));
  return out;
}

/// Inputs for a second call: the same numbers in another order, so that all stay allowed.
void change(const Tensors& inputs) {
  for (const Tensor& t : inputs)
    if (t.numel() > 1) t.detach().copy_(t.detach().flatten().flip({0}).view(t.sizes()).clone());
}

/// Whether the row could be captured; what could not must be in the table.
bool compare(const OpRow& row, const Tensors& in, bool differentiate) {
  const Tensors inputs = leaves_of(in, differentiate);
  DeviceGraph graph(kCPU);
  Tensors results;
  graph.capture_begin();
  const std::string error = error_of([&] { results = run(row, inputs, differentiate); });
  const std::string end = error_of([&] { graph.capture_end(); });
  EXPECT_EQ(end, error == "no error"
                     ? error
                     : "CPU error: operation failed due to a previous error during capture");
  if (error != "no error") {
    const auto of_values = rows_of_values().find(row.name);
    const std::string who = of_values == rows_of_values().end() ? "nobody" : of_values->second;
    EXPECT_THAT(error,
                ::testing::HasSubstr("operation not permitted when stream is capturing (" + who));
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    change(inputs);
    const std::vector<std::string> want =
        bits(run(row, leaves_of(inputs, differentiate), differentiate));
    graph.replay();
    EXPECT_EQ(bits(results), want) << "replay " << i;
  }
  return true;
}

TEST_P(Captured, ReplaysGiveTheBitsOfEagerCalls) {
  const OpRow& row = this->row();
  bool all = true;
  for (const ScalarType dtype : dtypes_of(row))
    for (const Sample& sample : row.samples) {
      SCOPED_TRACE(describe(row, sample, dtype));
      const Tensors in = make_inputs(row, sample, dtype);
      all &= compare(row, in, false);
      if (row.differentiable && is_floating_point(dtype)) all &= compare(row, in, true);
    }
  EXPECT_EQ(all, !rows_of_values().contains(row.name));
}

INSTANTIATE_TEST_SUITE_P(OpTable, Captured, every_row(), name_of_row);

}  // namespace
}  // namespace taeda::testing
