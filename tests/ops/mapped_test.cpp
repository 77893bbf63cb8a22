// Every row of the op table in a map over samples: what vmap gives is what the samples give one by
// one.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "taeda/autograd/engine.h"
#include "taeda/func/vmap.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/op_inputs.h"
#include "tests/ops/row_test.h"

namespace taeda::testing {
namespace {

constexpr int64_t kSamples = 3;

class Mapped : public RowTest {};

/// Rows that make sparse tensors, of which there are no mapped ones: most are refused.
bool is_sparse(const OpRow& row) {
  static const std::set<std::string> rows = {"sparse_coo_tensor",
                                             "sparse_csr_tensor",
                                             "mm.sparse",
                                             "mm.sparse_csr",
                                             "sampled_addmm",
                                             "hspmm",
                                             "smm",
                                             "sspaddmm",
                                             "to_sparse",
                                             "to_sparse_csr",
                                             "sparse_mask"};
  return rows.count(row.name) > 0;
}

/// Rows that change their first input, and what is said where it is not mapped.
const std::map<std::string, std::string>& rows_in_place() {
  static const std::map<std::string, std::string> rows = {
      {"copy", "inplace arithmetic"},
      {"copy.broadcast", "inplace arithmetic"},
      {"fill.tensor", "vmap: fill_(self, *extra_args) is not possible"}};
  return rows;
}

/// What is said of a call with these inputs mapped; empty where it is possible.
std::string refusal(const OpRow& row, unsigned mapped) {
  if (row.name == "masked_select" && (mapped & 2)) return "vmap over `mask`";
  const auto found = rows_in_place().find(row.name);
  return found != rows_in_place().end() && !(mapped & 1) ? found->second : "";
}

/// Inputs of several samples: of those that are `mapped` [samples, ...], else as they are.
struct Batch {
  Tensors inputs;
  std::vector<OptionalDim> dims;

  Tensors sample(int64_t i) const {
    Tensors out;
    for (size_t k = 0; k < inputs.size(); ++k)
      out.push_back(dims[k] ? inputs[k].select(0, i) : inputs[k]);
    return out;
  }
};

/// The same input of another sample.
Tensor varied(const Tensor& t, int64_t sample) {
  if (t.is_floating_point()) return t.mul(1 - 0.125 * static_cast<double>(sample));
  if (sample == 0) return t;
  return t.dtype() == kBool ? t.logical_not() : t.reshape({-1}).flip({0}).reshape(t.sizes());
}

Batch make_batch(const OpRow& row, const Sample& sample, ScalarType dtype, unsigned mapped) {
  const Tensors first = make_inputs(row, sample, dtype);
  Batch out;
  for (size_t k = 0; k < first.size(); ++k) {
    const bool is_mapped = mapped >> k & 1;
    Tensors parts;
    for (int64_t i = 0; i < kSamples; ++i) parts.push_back(varied(first[k], i));
    out.inputs.push_back(is_mapped ? stack(parts, 0) : first[k]);
    out.dims.push_back(is_mapped ? OptionalDim(0) : OptionalDim());
  }
  return out;
}

Tensors one_by_one(const OpRow& row, const Batch& batch) {
  std::vector<Tensors> parts;
  for (int64_t i = 0; i < kSamples; ++i) {
    const Tensors made = row.call(batch.sample(i));
    parts.resize(made.size());
    for (size_t k = 0; k < made.size(); ++k) parts[k].push_back(made[k]);
  }
  Tensors out;
  for (const Tensors& part : parts) out.push_back(stack(part, 0));
  return out;
}

Tensors at_once(const OpRow& row, const Batch& batch) {
  const auto call = [&](const Tensors& in) {
    func::MapResults out{row.call(in), {}};
    out.dims.assign(out.tensors.size(), 0);
    return out;
  };
  return func::map_samples(call, batch.inputs, batch.dims, Randomness::Error, {}, row.name);
}

void expect_close(const Tensor& got, const Tensor& want, const OpRow& row) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.dtype(), want.dtype());
  const double tolerance = 1e-9 * row.tolerance;
  EXPECT_TRUE(got.allclose(want, tolerance, tolerance, true)) << got << "\nnot\n" << want;
}

void expect_all_close(const Tensors& got, const Tensors& want, const OpRow& row) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) expect_close(got[k], want[k], row);
}

/// Results, and with gradients those of the inputs.
Tensors with_gradients(const Batch& batch, const Tensors& results) {
  Tensors outputs, weights, leaves, all = results;
  for (const Tensor& r : results)
    if (r.requires_grad()) {
      outputs.push_back(r);
      weights.push_back(linspace(0.5, 1.5, r.numel(), TensorOptions(r.dtype())).reshape(r.sizes()));
    }
  for (const Tensor& t : batch.inputs)
    if (t.requires_grad()) leaves.push_back(t);
  if (outputs.empty() || leaves.empty()) return all;
  for (const Tensor& g : autograd::grad(outputs, leaves, weights, {}, false, true))
    if (g.defined()) all.push_back(g);
  return all;
}

/// All inputs differ between samples, and each one alone.
std::vector<unsigned> which_inputs(size_t count) {
  std::vector<unsigned> out{(1u << count) - 1};
  for (size_t k = 0; count > 1 && k < count; ++k) out.push_back(1u << k);
  return out;
}

TEST_P(Mapped, GivesWhatSamplesGive) {
  const OpRow& row = this->row();
  if (is_sparse(row)) GTEST_SKIP() << "sparse tensors cannot be mapped";
  const ScalarType dtype = dtypes_of(row)[0];
  for (const Sample& sample : row.samples)
    for (const unsigned mapped : which_inputs(sample.size())) {
      if (sample.empty()) continue;
      SCOPED_TRACE(describe(row, sample, dtype) + ", mapped " + std::to_string(mapped));
      Batch batch = make_batch(row, sample, dtype, mapped);
      if (const std::string words = refusal(row, mapped); !words.empty()) {
        EXPECT_NE(error_of([&] { at_once(row, batch); }).find(words), std::string::npos);
        continue;
      }
      for (Tensor& t : batch.inputs)
        if (row.differentiable && t.is_floating_point()) t.requires_grad_();
      const Tensors want = one_by_one(row, batch);
      const Tensors got = at_once(row, batch);
      expect_all_close(with_gradients(batch, got), with_gradients(batch, want), row);
    }
}

INSTANTIATE_TEST_SUITE_P(OpTable, Mapped, every_row(), name_of_row);

}  // namespace
}  // namespace taeda::testing
