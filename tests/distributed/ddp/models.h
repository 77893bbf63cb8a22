// Models and helpers for tests of training in several processes.
#pragma once

#include <mutex>

#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/ranks.h"
#include "tests/error_of.h"

namespace taeda {

/// Three layers, of which the second is used only where it is asked for.
struct BranchImpl : nn::Cloneable<BranchImpl> {
  BranchImpl() { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(6, 8));
    second = register_module("second", nn::Linear(8, 8));
    last = register_module("last", nn::Linear(8, 3));
  }
  Tensor forward(const Tensor& x, bool use_second = true) {
    const Tensor h = tanh(first(x));
    return last(use_second ? h + second(h) : h);
  }
  nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
};
TAEDA_MODULE(Branch);

/// The same model on every rank and thread: values by position, without random numbers.
inline void fill_values(nn::Module& module) {
  const NoGradGuard values_only;
  double shift = 0;
  for (Tensor& p : module.parameters())
    p.copy_(
        (arange(p.numel()).to(p.dtype()) * 0.37 + (shift += 1.3)).sin().mul(0.3).view(p.sizes()));
}

/// Entry r of a batch, the same whoever asks for it.
inline Tensor batch_rows(int64_t begin, int64_t end, int64_t columns, double shift = 0) {
  return ((arange(end * columns).to(kFloat) * 0.71 + shift).sin().view({end, columns}))
      .narrow(0, begin, end - begin);
}

inline std::vector<Tensor> gradients_of(const nn::Module& module) {
  std::vector<Tensor> out;
  for (const Tensor& p : module.parameters())
    out.push_back(p.grad().defined() ? p.grad().detach().cpu().clone() : Tensor());
  return out;
}

/// Largest difference; -1 where only one is defined.
inline double distance(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return -1;
  return a.defined() ? (a.cpu().to(kDouble) - b.cpu().to(kDouble)).abs().max().item<double>() : 0;
}

inline void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                         double tolerance, const std::string& what = "") {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double d = distance(got[i], want[i]);
    EXPECT_TRUE(d >= 0 && d <= tolerance) << what << ": gradient " << i << " differs by " << d;
  }
}

/// Calls f(group) on threads; the groups are shared pointers, as DDP takes them.
inline void run_group(int size, const std::function<void(distributed::ProcessGroupPtr)>& f) {
  run_ranks(size, [&](distributed::ProcessGroup& group) {
    // The group outlives what is made of it here.
    f(distributed::ProcessGroupPtr(&group, [](distributed::ProcessGroup*) {}));
  });
}

}  // namespace taeda
