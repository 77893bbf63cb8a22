// Every row of the op table while memory runs out: at each allocation that its forward and backward
// pass make, on the host and on a simulated device. The call is refused by OutOfMemoryError, holds
// no memory afterwards, and gives the same bits when it is made again.
#include "tests/failing_memory.h"

#include <cstring>

#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "tests/ops/op_inputs.h"

namespace taeda::testing {
namespace {

/// Results, then the gradients of the inputs that have one.
Tensors results_of(const OpRow& row, const Tensors& in) {
  Tensors out = row.call(in);
  if (!row.differentiable) return out;
  Tensor first = out[0];
  if (first.is_complex()) return out;
  for (const Tensor& t : in) t.mutable_grad() = Tensor();
  if (first.requires_grad()) first.backward(full(first.sizes(), 0.75, first.options()));
  for (const Tensor& t : in)
    if (t.grad().defined()) out.push_back(t.grad());
  for (const Tensor& t : in) t.mutable_grad() = Tensor();
  return out;
}

Tensors inputs_on(const OpRow& row, Device device) {
  Tensors in = make_inputs(row, row.samples[0], dtypes_of(row)[0]);
  for (Tensor& t : in) {
    t = t.to(device);
    if (row.differentiable && t.is_floating_point()) t.requires_grad_();
  }
  return in;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.nbytes())) == 0;
}

/// Fails each allocation of `call`, whose results must be those of the call that nothing disturbed.
/// `left_over` puts back what an interrupted call may have left with its inputs.
template <class Call, class LeftOver>
int64_t check(Device device, Call&& call, LeftOver&& left_over) {
  const Tensors want = call();
  call();  // what is made once and kept is made now
  const int64_t before = bytes_in_use(device);
  Tensors got;
  const auto attempt = [&] {
    got.clear();
    got = call();
  };
  const int64_t failures = fail_each_allocation(device, attempt, [&] {
    left_over();
    EXPECT_EQ(bytes_in_use(device), before);
  });
  EXPECT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size() && i < want.size(); ++i)
    EXPECT_TRUE(same_bits(got[i], want[i])) << "result " << i;
  return failures;
}

int64_t check_row(const OpRow& row, Device device) {
  SCOPED_TRACE(row.name);
  const Tensors in = inputs_on(row, device);
  return check(
      device, [&] { return results_of(row, in); },
      [&] {
        for (const Tensor& t : in) t.mutable_grad() = Tensor();
      });
}

int64_t check_all_rows(Device device) {
  int64_t failures = 0;
  for (const OpRow& row : all_rows())
    if (!row.unavailable || row.unavailable(device).empty()) failures += check_row(row, device);
  return failures;
}

int64_t check_random(Device device) {
  const Tensor p = full({4}, 0.25, TensorOptions(kFloat).device(device));
  const auto options = p.options();
  const std::vector<std::function<Tensor()>> calls = {
      [&] { return rand({4}, options); },
      [&] { return randn({4}, options); },
      [&] { return randint(0, 9, {4}, options); },
      [&] { return randperm(5, options.dtype(kLong)); },
      [&] { return bernoulli(p); },
      [&] { return multinomial(p, 3); },
      [&] { return dropout(p, 0.5, true); },
  };
  int64_t failures = 0;
  for (const auto& draw : calls)
    failures += check(
        device,
        [&] {
          manual_seed(5);
          return Tensors{draw()};
        },
        [] {});
  return failures;
}

TEST(FailingMemory, OnTheHostEveryOperationIsAllOrNothing) {
  EXPECT_GT(check_all_rows(Device(kCPU)), 1000);
  EXPECT_GT(check_random(Device(kCPU)), 7);
}

TEST(FailingMemory, OnADeviceEveryOperationIsAllOrNothing) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  EXPECT_GT(check_all_rows(Device("sim:0")), 1000);
  EXPECT_GT(check_random(Device("sim:0")), 7);
}

}  // namespace
}  // namespace taeda::testing
