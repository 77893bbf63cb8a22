// Every row of the op table on meta: what it gives is what the CPU gives but for the values.
#include <gmock/gmock.h>

#include <map>

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/create.h"
#include "tests/error_of.h"
#include "tests/ops/op_inputs.h"
#include "tests/ops/row_test.h"

namespace taeda::testing {

void PrintTo(const OpRow& row, std::ostream* out);  // op_table.cpp

namespace {

/// Rows whose results have shapes that depend on values, or are values, with the operation that
/// says so.
const std::map<std::string, std::string>& rows_of_values() {
  static const std::map<std::string, std::string> rows = {{"masked_select", "masked_select"},
                                                          {"to_sparse", "to_sparse"},
                                                          {"to_sparse_csr", "to_sparse_csr"},
                                                          {"hspmm", "hspmm"},
                                                          {"smm", "smm"},
                                                          {"sspaddmm", "to_sparse"}};
  return rows;
}

class OnMeta : public RowTest {};

Tensors on_meta(const Tensors& in) {
  Tensors out;
  for (const Tensor& t : in) out.push_back(t.to(kMeta));
  return out;
}

void expect_same_form(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.defined(), want.defined());
  if (!got.defined()) return;
  EXPECT_EQ(got.device(), Device(kMeta));
  EXPECT_EQ(got.sizes(), want.sizes());
  EXPECT_EQ(got.strides(), want.strides());
  EXPECT_EQ(got.storage_offset(), want.storage_offset());
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_EQ(got.requires_grad(), want.requires_grad());
  EXPECT_EQ(got.storage()->data(), nullptr);
}

void expect_same_forms(const Tensors& got, const Tensors& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) expect_same_form(got[i], want[i]);
}

Tensors with_gradients(Tensors in) {
  for (Tensor& t : in)
    if (t.is_floating_point()) t.requires_grad_();
  return in;
}

/// The result, and the gradients of all inputs that have one.
Tensors differentiated(const OpRow& row, const Tensors& leaves) {
  const Tensor out = row.call(leaves)[0];
  out.backward(full(out.sizes(), 0.75, out.options()));
  Tensors all{out};
  for (const Tensor& t : leaves)
    if (t.requires_grad()) all.push_back(t.grad());
  return all;
}

TEST_P(OnMeta, HasTheFormOfTheCpusResults) {
  const OpRow& row = this->row();
  const auto of_values = rows_of_values().find(row.name);
  for (const ScalarType dtype : dtypes_of(row))
    for (const Sample& sample : row.samples) {
      SCOPED_TRACE(describe(row, sample, dtype));
      const Tensors in = make_inputs(row, sample, dtype);
      if (of_values == rows_of_values().end()) {
        expect_same_forms(row.call(on_meta(in)), row.call(in));
      } else if (in[0].numel() > 0) {
        EXPECT_THROW(row.call(on_meta(in)), NotImplementedError);
        EXPECT_THAT(error_of([&] { row.call(on_meta(in)); }),
                    ::testing::StartsWith(of_values->second + ": attempted to run this operator "
                                                              "with Meta tensors"));
      }
    }
}

TEST_P(OnMeta, HasTheFormOfTheCpusGradients) {
  const OpRow& row = this->row();
  if (!row.differentiable || rows_of_values().contains(row.name)) return;
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    const Tensors in = make_inputs(row, sample, kDouble);
    const Tensors leaves = with_gradients(on_meta(in));
    expect_same_forms(differentiated(row, leaves), differentiated(row, with_gradients(in)));
  }
}

TEST_P(OnMeta, InPlaceChangesNothingButTheVersion) {
  const OpRow& row = this->row();
  if (!row.in_place || rows_of_values().contains(row.name)) return;
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    const Tensors in = make_inputs(row, sample, kDouble), moved = on_meta(in);
    if (row.call(in)[0].sizes() != in[0].sizes()) continue;
    const auto version = moved[0]._version();
    EXPECT_TRUE(row.in_place(moved).is_same(moved[0]));
    EXPECT_GT(moved[0]._version(), version);
    expect_same_form(moved[0], row.in_place(in));
  }
}

TEST(MetaRows, OfValuesExist) {
  for (const auto& [name, operation] : rows_of_values())
    EXPECT_TRUE(std::any_of(all_rows().begin(), all_rows().end(),
                            [&, name = name](const OpRow& row) { return row.name == name; }))
        << name;
}

INSTANTIATE_TEST_SUITE_P(OpTable, OnMeta, every_row(), name_of_row);

}  // namespace
}  // namespace taeda::testing
