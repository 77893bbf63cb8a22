// The generic tests: every row of the op table, every way an operation can be called.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/device/backends.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/ops/op_inputs.h"
#include "tests/ops/row_test.h"

namespace taeda::testing {

namespace {

// ---- comparison ----

double tolerance_of(ScalarType t) {
  switch (t) {
    case kDouble: return 1e-11;
    case kFloat: return 2e-6;
    case kHalf: return 2e-3;
    case kBFloat16: return 1.6e-2;
    default: return 0;
  }
}

/// What a number becomes in the dtype of a result: the reference's range is larger.
double in_range_of(ScalarType t, double x) {
  if (t == kFloat || t == kBFloat16) return static_cast<float>(x);
  if (t == kHalf) return static_cast<float>(Half(static_cast<float>(x)));
  return x;
}

void expect_close(const Tensor& got, const Array& want, double tolerance) {
  const Array have = to_array(got);
  ASSERT_EQ(have.sizes, want.sizes);
  for (int64_t i = 0; i < have.numel(); ++i) {
    const double x = have.data[i], y = in_range_of(got.dtype(), want.data[i]);
    if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
    EXPECT_LE(std::fabs(x - y), tolerance * std::max(1.0, std::fabs(y)))
        << "element " << i << ": got " << x << ", want " << y;
  }
}

void compare_with_reference(const OpRow& row, const Tensors& in) {
  Arrays arrays;
  for (const Tensor& t : in) arrays.push_back(to_array(t));
  const Tensors got = row.call(in);
  const Arrays want = row.reference(arrays);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    // Results are as exact as the least exact of inputs and outputs.
    double tolerance = tolerance_of(got[i].dtype());
    for (const Tensor& t : in)
      if (is_floating_point(t.dtype()))
        tolerance =
            std::max(tolerance, is_floating_point(got[i].dtype()) ? tolerance_of(t.dtype()) : 0);
    expect_close(got[i], want[i], tolerance * row.tolerance);
  }
}

void expect_identical(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  ASSERT_EQ(a.dtype(), b.dtype());
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  EXPECT_EQ(std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.nbytes())), 0) << x << y;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  expect_close(a, to_array(b), tolerance);
}

// ---- the checks ----

class Forward : public RowTest {};
class Specials : public RowTest {};
class Layouts : public RowTest {};
class Gradient : public RowTest {};
class SecondGradient : public RowTest {};
class InPlace : public RowTest {};
class OnSim : public RowTest {};
class OnCuda : public RowTest {};
class OnPlugin : public RowTest {};

TEST_P(Forward, MatchesReference) {
  const OpRow& row = this->row();
  for (ScalarType dtype : dtypes_of(row))
    for (const Sample& sample : row.samples) {
      SCOPED_TRACE(describe(row, sample, dtype));
      compare_with_reference(row, make_inputs(row, sample, dtype));
    }
}

/// Every combination of the special numbers over the inputs.
TEST_P(Specials, MatchReference) {
  const OpRow& row = this->row();
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> numbers = {0.0,  -0.0,  1,    -1,    0.5, -3,   100,
                                       -100, 1e-40, 1e30, -1e30, inf, -inf, nan};
  const size_t arity = row.samples[0].size();
  size_t total = 1;
  for (size_t k = 0; k < arity; ++k) total *= numbers.size();
  for (ScalarType dtype : {kDouble, kFloat}) {
    Tensors in;
    for (size_t k = 0, step = 1; k < arity; ++k, step *= numbers.size()) {
      Tensor t = empty({static_cast<int64_t>(total)}, kDouble);
      for (size_t i = 0; i < total; ++i)
        t.data_ptr<double>()[i] = numbers[i / step % numbers.size()];
      in.push_back(row.samples[0][k].kind == Arg::Kind::Mask ? t.to(kBool) : t.to(dtype));
    }
    SCOPED_TRACE(to_string(dtype));
    compare_with_reference(row, in);
  }
}

/// The same numbers behind strides: dimensions swapped, every second element, one element repeated.
Tensor swapped(const Tensor& t) {
  if (t.dim() < 2) return t;
  std::vector<int64_t> sizes = t.sizes().vec(), strides(sizes.size());
  int64_t step = 1;
  for (size_t d = 0; d < sizes.size(); ++d)
    strides[d] = step, step *= std::max<int64_t>(sizes[d], 1);
  Tensor out = empty({t.numel()}, t.dtype()).as_strided(sizes, strides);
  return out.copy_(t);
}

Tensor stepped(const Tensor& t) {
  if (t.dim() == 0) return t;
  std::vector<int64_t> strides = contiguous_strides(t.sizes()).vec();
  for (int64_t& s : strides) s *= 2;
  Tensor out = empty({2 * t.numel() + 1}, t.dtype()).as_strided(t.sizes(), strides, 1);
  return out.copy_(t);
}

Tensor repeated(const Tensor& t) {
  if (t.dim() == 0 || t.numel() == 0) return t;
  std::vector<int64_t> strides = contiguous_strides(t.sizes()).vec();
  strides[0] = 0;
  return t.as_strided(t.sizes(), strides);
}

TEST_P(Layouts, DoNotChangeTheResult) {
  const OpRow& row = this->row();
  NoGradGuard guard;
  for (ScalarType dtype : {dtypes_of(row)[0], dtypes_of(row).back()})
    for (const Sample& sample : row.samples)
      for (Tensor (*change)(const Tensor&) : {&swapped, &stepped, &repeated}) {
        SCOPED_TRACE(describe(row, sample, dtype));
        Tensors strided, plain;
        for (const Tensor& t : make_inputs(row, sample, dtype)) {
          strided.push_back(change(t));
          plain.push_back(strided.back().clone(MemoryFormat::Contiguous));
        }
        const Tensors a = row.call(strided), b = row.call(plain);
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i)
          expect_near(a[i], b[i], tolerance_of(a[i].dtype()) * row.tolerance);
      }
}

Tensors gradient_inputs(const OpRow& row, const Sample& sample, Device device = Device(kCPU)) {
  Tensors in = make_inputs(row, sample, kDouble);
  for (Tensor& t : in) {
    t = t.to(device);
    if (t.is_floating_point()) t.requires_grad_();
  }
  return in;
}

TEST_P(Gradient, MatchesDifferences) {
  const OpRow& row = this->row();
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    EXPECT_NO_THROW(autograd::gradcheck(row.call, gradient_inputs(row, sample)));
  }
}

TEST_P(SecondGradient, MatchesDifferences) {
  const OpRow& row = this->row();
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    EXPECT_NO_THROW(autograd::gradgradcheck(row.call, gradient_inputs(row, sample)));
  }
}

/// Inputs whose first is not a leaf, so that it may be changed in place.
Tensors with_history(const Tensors& leaves) {
  Tensors in = leaves;
  in[0] = leaves[0].mul(1);
  return in;
}

std::vector<Tensor> gradients_of(const Tensor& out, const Tensors& leaves) {
  out.backward(full(out.sizes(), 0.75, out.options()));
  std::vector<Tensor> grads;
  for (const Tensor& t : leaves)
    if (t.requires_grad()) grads.push_back(t.grad());
  return grads;
}

TEST_P(InPlace, EqualsOutOfPlace) {
  const OpRow& row = this->row();
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    Tensors in = make_inputs(row, sample, kDouble);
    const Tensor want = row.call(in)[0];
    if (want.sizes() != in[0].sizes()) continue;  // a broadcast result does not fit
    const int64_t version = in[0]._version();
    const Tensor result = row.in_place(in);
    EXPECT_TRUE(result.is_same(in[0]));
    EXPECT_GT(in[0]._version(), version);
    expect_identical(in[0], want.to(in[0].dtype()));
    if (!row.differentiable) continue;
    const Tensors a = gradient_inputs(row, sample), b = gradient_inputs(row, sample);
    const std::vector<Tensor> expected = gradients_of(row.call(with_history(a))[0], a);
    const std::vector<Tensor> got = gradients_of(row.in_place(with_history(b)), b);
    for (size_t i = 0; i < got.size(); ++i) expect_near(got[i], expected[i], 1e-12);
  }
}

/// The row on an accelerator: results and gradients, compared with the CPU's by `compare`.
template <class Compare>
void run_on(const OpRow& row, Device device, Compare compare) {
  for (ScalarType dtype : dtypes_of(row))
    for (const Sample& sample : row.samples) {
      SCOPED_TRACE(describe(row, sample, dtype));
      const Tensors in = make_inputs(row, sample, dtype);
      Tensors moved;
      for (const Tensor& t : in) moved.push_back(t.to(device));
      const Tensors want = row.call(in), got = row.call(moved);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].device(), device);
        compare(got[i], want[i]);
      }
    }
  if (!row.differentiable) return;
  for (const Sample& sample : row.samples) {
    SCOPED_TRACE(describe(row, sample, kDouble));
    const Tensors a = gradient_inputs(row, sample), b = gradient_inputs(row, sample, device);
    const std::vector<Tensor> want = gradients_of(row.call(a)[0], a),
                              got = gradients_of(row.call(b)[0], b);
    for (size_t i = 0; i < got.size(); ++i) compare(got[i], want[i]);
  }
}

TEST_P(OnSim, EqualsCpuBitByBit) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  run_on(row(), Device("sim:0"), [](const Tensor& a, const Tensor& b) { expect_identical(a, b); });
}

TEST_P(OnCuda, EqualsCpu) {
  if (device_count(kCUDA) == 0) GTEST_SKIP() << "no CUDA device";
  skip_where_unavailable(Device("cuda:0"));
  if (IsSkipped()) return;
  backends::cudnn::allow_tf32 = false;  // the CPU's results are of full precision
  run_on(row(), Device("cuda:0"), [&](const Tensor& a, const Tensor& b) {
    expect_near(a, b, tolerance_of(a.dtype()) * row().tolerance);
  });
}

/// TAEDA_TEST_PLUGIN names a type of device that a plug-in brings, whose kernels compute as the
/// CPU's do.
const char* plugin_name() { return std::getenv("TAEDA_TEST_PLUGIN"); }

TEST_P(OnPlugin, EqualsCpuOrSaysWhichSlotIsMissing) {
  const Device device(std::string(plugin_name()) + ":0");
  try {
    run_on(row(), device, [](const Tensor& a, const Tensor& b) { expect_identical(a, b); });
  } catch (const NotImplementedError& e) {
    EXPECT_THAT(e.message(),
                ::testing::MatchesRegex("Could not run '.+': there is no kernel for the '" +
                                        std::string(plugin_name()) + "' backend"));
    GTEST_SKIP() << e.message();
  }
}

// ---- which rows take part ----

INSTANTIATE_TEST_SUITE_P(OpTable, Forward, every_row(), name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, Specials, rows_where([](auto& r) { return r.specials; }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, Layouts, every_row(), name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, Gradient, rows_where([](auto& r) { return r.differentiable; }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, SecondGradient, rows_where([](auto& r) {
                           return r.differentiable && r.second_derivative;
                         }),
                         name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, InPlace,
                         rows_where([](auto& r) { return r.in_place != nullptr; }), name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, OnSim, every_row(), name_of_row);
INSTANTIATE_TEST_SUITE_P(OpTable, OnCuda, every_row(), name_of_row);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnPlugin);
INSTANTIATE_TEST_SUITE_P(OpTable, OnPlugin,
                         rows_where([](auto&) { return plugin_name() != nullptr; }), name_of_row);

}  // namespace
}  // namespace taeda::testing
