#include "taeda/parallel/pipe/balance.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/nn/forward_state.h"
#include "taeda/ops/create/create.h"
#include "taeda/parallel/pipe/stage.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

std::vector<int64_t> balance_costs(const std::vector<double>& costs, int64_t partitions) {
  const size_t n = costs.size();
  TAEDA_CHECK_VALUE(partitions >= 1, "partitions must be a positive integer (", partitions,
                    " < 1)");
  const auto parts = static_cast<size_t>(partitions);
  TAEDA_CHECK_VALUE(n >= parts, "sequence is shorter than intended partitions (", n, " < ",
                    partitions, ")");
  for (const double cost : costs)
    TAEDA_CHECK_VALUE(cost >= 0 && std::isfinite(cost),
                      "costs must be numbers that are not negative, got ", cost);
  std::vector<double> sums(n + 1, 0);
  std::partial_sum(costs.begin(), costs.end(), sums.begin() + 1);
  // best[p][i]: the largest sum when the first i costs make p + 1 runs; cut[p][i]: where the last
  // run begins. Of equal cuts the earliest: earlier stages keep more micro-batches.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(parts, std::vector<double>(n + 1, kNever));
  std::vector<std::vector<size_t>> cut(parts, std::vector<size_t>(n + 1, 0));
  for (size_t i = 1; i <= n; ++i) best[0][i] = sums[i];
  for (size_t p = 1; p < parts; ++p)
    for (size_t i = p + 1; i <= n; ++i)
      for (size_t k = p; k < i; ++k) {
        const double largest = std::max(best[p - 1][k], sums[i] - sums[k]);
        if (largest >= best[p][i]) continue;
        best[p][i] = largest;
        cut[p][i] = k;
      }
  std::vector<int64_t> out(parts);
  size_t end = n;
  for (size_t p = parts; p-- > 0;) {
    const size_t begin = p == 0 ? 0 : cut[p][end];
    out[p] = static_cast<int64_t>(end - begin);
    end = begin;
  }
  return out;
}

namespace {

bool has_tensors(const Module& m) { return !m.parameters().empty() || !m.buffers().empty(); }

/// Balances groups of children: one with tensors, and those without that follow it (the first group
/// also has those before it).
std::vector<int64_t> balance_groups(const Sequential& module, const std::vector<double>& costs,
                                    int64_t partitions) {
  std::vector<double> group_costs;
  std::vector<int64_t> lengths;
  bool begun = false;  // the current group has a child with tensors
  for (size_t i = 0; i < costs.size(); ++i) {
    const bool own = has_tensors(*module->ptr(i));
    if (lengths.empty() || (own && begun)) {
      group_costs.push_back(0);
      lengths.push_back(0);
      begun = false;
    }
    group_costs.back() += costs[i];
    ++lengths.back();
    begun |= own;
  }
  std::vector<int64_t> out;
  auto length = lengths.begin();
  for (const int64_t groups : balance_costs(group_costs, partitions)) {
    out.push_back(std::accumulate(length, length + groups, int64_t{0}));
    length += groups;
  }
  return out;
}

/// Milliseconds of one forward and backward run; `output` becomes the detached output.
double run_once(AnyModule& module, const std::vector<Tensor>& inputs, const detail::Form& form,
                Device device, AnyValue& output) {
  std::vector<Tensor> given;
  for (const Tensor& t : inputs)
    given.push_back(is_differentiable(t.dtype()) ? t.detach().requires_grad_() : t);
  AnyValue value = detail::packed(form, given.data());
  synchronize(device);
  const auto start = std::chrono::steady_clock::now();
  output = module.call_values(&value, 1);
  const detail::Form out = detail::form_of(output, "balance_by_time: the output of a child");
  std::vector<Tensor> results = detail::tensors_of(output, out);
  for (Tensor& t : results) {
    if (t.requires_grad()) t.backward(ones_like(t.detach()), true);
    t = t.detach();
  }
  synchronize(device);
  output = detail::packed(out, results.data());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

std::vector<int64_t> balance_by_parameters(int64_t partitions, const Sequential& module) {
  std::vector<double> costs;
  for (size_t i = 0; i < module->size(); ++i) {
    costs.push_back(0);
    for (const Tensor& p : module->ptr(i)->parameters())
      costs.back() += static_cast<double>(p.numel());
  }
  return balance_groups(module, costs, partitions);
}

std::vector<int64_t> balance_by_time(int64_t partitions, const Sequential& module,
                                     const Tensor& sample, std::optional<Device> where) {
  const Device device = resolve(where.value_or(sample.device()));
  const std::vector<Tensor> on_device{sample.to(device)};
  const taeda::utils::checkpoint::ForwardState before(on_device);
  const taeda::utils::checkpoint::ForwardState::Scope random_numbers(before);
  const AutoGradMode recording(true);
  constexpr int kRuns = 3;  // after one that prepares
  std::vector<double> costs;
  AnyValue value(on_device[0]);
  detail::SkipScope skips;
  for (const AnyModule& child : *module) {
    AnyModule copy = child.clone(device);
    copy->train();
    const detail::Form form = detail::form_of(value, "balance_by_time: the input of a child");
    const std::vector<Tensor> inputs = detail::tensors_of(value, form);
    const auto stashed = skips.tensors;
    AnyValue output;
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kRuns; ++i) {
      skips.tensors = stashed;
      const double ms = run_once(copy, inputs, form, device, output);
      if (i > 0) fastest = std::min(fastest, ms);
    }
    for (auto& [name, t] : skips.tensors) t = t.detach();
    costs.push_back(fastest);
    value = std::move(output);
  }
  return balance_groups(module, costs, partitions);
}

Sequential partition(const Sequential& module, const std::vector<Device>& devices,
                     const std::vector<int64_t>& given) {
  const std::vector<int64_t> balance =
      given.empty() ? balance_by_parameters(std::ssize(devices), module) : given;
  TAEDA_CHECK_VALUE(balance.size() == devices.size(), "partition: got ", balance.size(),
                    " numbers of modules for ", devices.size(), " devices");
  const int64_t sum =
      std::accumulate(balance.begin(), balance.end(), CheckedInt(0)).value("partition");
  TAEDA_CHECK_VALUE(sum == std::ssize(*module),
                    "module and sum of balance have different length "
                    "(module: ",
                    module->size(), ", sum of balance: ", sum, ")");
  size_t next = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    TAEDA_CHECK_VALUE(balance[i] > 0, "all balance numbers must be positive integer (got ",
                      balance[i], ")");
    for (int64_t k = 0; k < balance[i]; ++k) module->ptr(next++)->to(devices[i]);
  }
  return module;
}

}  // namespace taeda::inline v0_2::nn
