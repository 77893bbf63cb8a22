#include "taeda/distributed/sync_batch_norm.h"

#include <algorithm>
#include <utility>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/distributed/group/world.h"
#include "taeda/nn/modules/batch_norm_base.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::nn {

namespace {

using distributed::ProcessGroup;
using distributed::ProcessGroupPtr;

/// All dimensions but that of the channels.
DimVector dims_but_channels(const Tensor& x) {
  DimVector out;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != 1) out.push_back(d);
  return out;
}

/// A number for each channel, to be combined with [N, C, ...].
Tensor across(const Tensor& per_channel, const Tensor& x) {
  DimVector sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = x.size(1);
  return per_channel.view(sizes);
}

/// Of all processes' values; without history, in double.
struct SharedStatistics {
  Tensor mean, squares;  ///< per channel; `squares`: the sum of squared differences from the mean
  double count = 0;      ///< values per channel
};

/// This process's mean, sum of squared differences and number of values, as one vector.
Tensor own_statistics(const Tensor& input) {
  const int64_t channels = input.size(1);
  const int64_t count = channels > 0 ? input.numel() / channels : 0;
  const Tensor out = zeros({2 * channels + 1}, TensorOptions(kDouble).device(input.device()));
  if (count == 0) return out;
  const Tensor x = input.to(computing_dtype(input.dtype()));
  const auto [var, mean] = var_mean(x, dims_but_channels(x), /*unbiased=*/false);
  out.narrow(0, 0, channels).copy_(mean);
  out.narrow(0, channels, channels).copy_(var).mul_(static_cast<double>(count));
  out.narrow(0, 2 * channels, 1).fill_(static_cast<double>(count));
  return out;
}

/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances" (1979), for all processes at once. The same bits in all of them.
SharedStatistics shared_statistics(const Tensor& input, ProcessGroup& group) {
  const int64_t channels = input.size(1);
  const Tensor own = own_statistics(input);
  const Tensor all = empty({group.size(), 2 * channels + 1}, own.options());
  group.all_gather_into_tensor(all, own, {});
  const Tensor means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1);
  SharedStatistics out;
  out.count = counts.sum().item<double>();
  out.mean = means.mul(counts).sum({0}).div(std::max(out.count, 1.0));
  out.squares =
      all.narrow(1, channels, channels).add(means.sub(out.mean).square().mul(counts)).sum({0});
  return out;
}

/// (1 - momentum) old + momentum new.
void follow(const Tensor& running, const Tensor& current, double momentum) {
  if (running.defined()) running.mul_(1 - momentum).add_(current.to(running.dtype()), momentum);
}

struct SyncBatchNormState {
  autograd::Saved input, weight;
  Tensor mean, rstd;  // without history, in the computing dtype
  double count;
  ProcessGroupPtr group;
};

/// dx = weight rstd (g - mean(g) - xhat mean(g xhat)), where means are over all processes.
TensorVec sync_gradients(const SyncBatchNormState& s, const Tensor& grad, Needs needs) {
  TAEDA_CHECK(!GradMode::is_enabled(),
              "SyncBatchNorm: the gradient of its gradient is not implemented");
  const Tensor x = s.input.unpack(), g = grad.to(s.mean.dtype());
  const DimVector dims = dims_but_channels(x);
  const Tensor centred = x.sub(across(s.mean, x));
  const Tensor sum_g = g.sum(dims), sum_gx = g.mul(centred).sum(dims).mul(s.rstd);
  Tensor dx;
  if (needs[0]) {
    const Tensor sums = stack({sum_g, sum_gx});
    s.group->all_reduce(sums, distributed::ReduceOp::SUM, {});
    sums.div_(std::max(s.count, 1.0));
    const Tensor scale =
        s.weight.defined() ? s.weight.unpack().detach().to(s.rstd.dtype()).mul(s.rstd) : s.rstd;
    dx = g.sub(across(sums[0], x))
             .sub(centred.mul(across(sums[1].mul(s.rstd), x)))
             .mul(across(scale, x))
             .to(x.dtype());
  }
  return {dx, needs[1] ? sum_gx : Tensor(), needs[2] ? sum_g : Tensor()};
}

class GroupBatchNorm final : public SharedBatchNorm {
 public:
  explicit GroupBatchNorm(ProcessGroupPtr group) : group_(std::move(group)) {}

  Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias,
                 const Tensor& running_mean, const Tensor& running_var, double momentum,
                 double eps) const override {
    return sync_batch_norm(input, weight, bias, running_mean, running_var, momentum, eps, group_);
  }

 private:
  ProcessGroupPtr group_;
};

}  // namespace

Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, double momentum,
                       double eps, const ProcessGroupPtr& given) {
  const ProcessGroupPtr group = given ? given : distributed::World::instance().default_group();
  if (!group || group->size() == 1)
    return batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  TAEDA_CHECK(group->is_member(), "SyncBatchNorm: this process is not in group '", group->name(),
              "'");
  TAEDA_CHECK(input.is_floating_point(), "SyncBatchNorm: expected a floating-point input, got ",
              to_string(input.dtype()));
  SyncBatchNormState s{{}, {}, {}, {}, 0, group};
  const Tensor out = [&] {
    const NoGradGuard values_only;
    const SharedStatistics all = shared_statistics(input, *group);
    TAEDA_CHECK_VALUE(all.count != 1,
                      "Expected more than 1 value per channel when training, got input size ",
                      input.sizes(), " and nothing in the other processes");
    const ScalarType dtype = computing_dtype(input.dtype());
    const Tensor var = all.squares.div(std::max(all.count, 1.0));
    s.mean = all.mean.to(dtype);
    s.rstd = var.add(eps).rsqrt().to(dtype);
    s.count = all.count;
    if (all.count > 0) {
      follow(running_mean, all.mean, momentum);
      follow(running_var, all.squares.div(all.count - 1), momentum);
    }
    return batch_norm(input, weight, bias, s.mean, var.to(dtype), false, 0, eps);
  }();
  if (!wants_grad(input, weight, bias)) return out;
  s.input = save_tensor(input, "input");
  s.weight = save_tensor(weight, "weight");
  record("SyncBatchNormBackward", out, {input, weight, bias},
         [s](const Tensor& g, Needs needs) { return sync_gradients(s, g, needs); });
  return out;
}

template class BatchNormImplBase<SyncBatchNormImpl>;

SyncBatchNormImpl::SyncBatchNormImpl(BatchNormOptions o, const ProcessGroupPtr& group)
    : BatchNormImplBase(std::move(o)) {
  shared = std::make_shared<GroupBatchNorm>(group);
}

Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  TAEDA_CHECK_VALUE(input.dim() >= 2, "expected at least 2D input (got ", input.dim(), "D input)");
  return normalize(input);
}

void SyncBatchNorm::convert(Module& module, const ProcessGroupPtr& group) {
  const auto shared = std::make_shared<GroupBatchNorm>(group);
  const auto convert_one = [&](Module& m) {
    if (auto* one = m.as<BatchNorm1dImpl>()) one->shared = shared;
    if (auto* two = m.as<BatchNorm2dImpl>()) two->shared = shared;
    if (auto* three = m.as<BatchNorm3dImpl>()) three->shared = shared;
  };
  convert_one(module);
  for (const auto& m : module.modules(/*include_self=*/false)) convert_one(*m);
}

}  // namespace taeda::inline v0_2::nn
