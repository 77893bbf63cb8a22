// Every row of the op table with inputs of which one extent is 0: an error or results, and
// gradients in the inputs' shapes, but never memory that is not there.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "taeda/autograd/engine.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/ops/op_inputs.h"

namespace taeda::testing {

namespace {

/// The extents that the sample's inputs have.
std::set<int64_t> extents_of(const Sample& sample) {
  std::set<int64_t> out;
  for (const Arg& arg : sample) out.insert(arg.sizes.begin(), arg.sizes.end());
  out.erase(0);
  return out;
}

/// The sample with 0 for an extent, in all inputs: their shapes go on fitting each other.
Sample without(Sample sample, int64_t extent) {
  for (Arg& arg : sample) std::replace(arg.sizes.begin(), arg.sizes.end(), extent, int64_t{0});
  return sample;
}

/// Gradients of all differentiable inputs. What is not defined for so few elements is an error.
void differentiate(const OpRow& row, const Tensors& in) {
  Tensors learned = in;
  for (Tensor& t : learned)
    if (t.is_floating_point()) t = t.detach().requires_grad_();
  Tensor loss;
  for (const Tensor& t : row.call(learned))
    if (t.defined() && t.requires_grad()) loss = loss.defined() ? loss + t.sum() : t.sum();
  if (!loss.defined()) return;
  loss.backward();
  for (const Tensor& t : learned)
    if (t.grad().defined()) EXPECT_EQ(t.grad().sizes(), t.sizes());
}

TEST(NoElements, ForwardAndBackward) {
  for (const OpRow& row : all_rows()) {
    if (row.unavailable && !row.unavailable(Device(kCPU)).empty()) continue;
    for (const Sample& sample : row.samples)
      for (const int64_t extent : extents_of(sample))
        for (const ScalarType dtype : dtypes_of(row)) {
          const Sample empty = without(sample, extent);
          SCOPED_TRACE(describe(row, empty, dtype));
          try {
            const Tensors in = make_inputs(row, empty, dtype);
            row.call(in);
            if (row.differentiable && is_floating_point(dtype)) differentiate(row, in);
          } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()), "");
          }
        }
  }
}

}  // namespace

}  // namespace taeda::testing
