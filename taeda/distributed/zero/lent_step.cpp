// How processes whose loop is over go on updating their parameters: with gradients and options of
// one that has a batch. Whatever that one did to them - clipped, unscaled, scheduled - counts.
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/zero/partition.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::detail {

namespace {

constexpr int64_t kLendTag = kMaxTag - 2;

std::vector<double> numbers_of(const ParamGroups& groups) {
  std::vector<double> out;
  for (const auto& group : groups)
    group.options().clone()->visit([&](const char*, double value) {
      out.push_back(value);
      return value;
    });
  return out;
}

/// As the parameter's memory has it.
Tensor gradient_to_lend(const Tensor& param) {
  const Tensor& gradient = param.grad();
  return gradient.defined() ? gradient.detach().to(param.dtype()) : zeros_like(param);
}

}  // namespace

OtherGradients::OtherGradients(std::vector<Tensor> params, std::vector<Tensor> gradients)
    : params_(std::move(params)), gradients_(std::move(gradients)) {
  exchange();
}

OtherGradients::~OtherGradients() { exchange(); }

void OtherGradients::exchange() {
  for (size_t i = 0; i < params_.size(); ++i)
    if (params_[i].grad().defined() || gradients_[i].defined())
      std::swap(params_[i].mutable_grad(), gradients_[i]);
}

LentStep::LentStep(ParamGroups& groups, std::vector<double> numbers, std::vector<Tensor> params,
                   std::vector<Tensor> gradients)
    : groups_(groups),
      numbers_(std::move(numbers)),
      gradients_(std::move(params), std::move(gradients)) {
  exchange_numbers();
}

LentStep::~LentStep() { exchange_numbers(); }

void LentStep::exchange_numbers() {
  size_t at = 0;
  for (auto& group : groups_)
    group.options().visit(
        [&](const char*, double own) { return std::exchange(numbers_[at++], own); });
}

Device ZeroPartition::device(const ParamGroups& groups) const {
  for (const auto& group : groups)
    if (group_->backend() == "nccl" && !group.params().empty()) return group.params()[0].device();
  return kCPU;
}

std::vector<const ZeroPartition::Bucket*> ZeroPartition::buckets_of(int owner) const {
  std::vector<const Bucket*> out;
  for (const Bucket& bucket : buckets_)
    if (bucket.owner == owner) out.push_back(&bucket);
  return out;
}

void ZeroPartition::lend(const ParamGroups& groups, const JoinTurn& turn) {
  if (turn.last() != rank()) return;
  const NoGradGuard values_only;
  bring_up_to_date(groups);
  for (int to = 0; to < group_->size(); ++to)
    if (!turn.active[static_cast<size_t>(to)]) lend_to(to, groups);
}

/// Sends the options' numbers, and for each of the process's parameters whether there is a
/// gradient; then the gradients.
void ZeroPartition::lend_to(int to, const ParamGroups& groups) {
  std::vector<double> outline = numbers_of(groups);
  for (const Bucket* bucket : buckets_of(to))
    for (const Tensor& p : bucket->params) outline.push_back(p.grad().defined());
  group_->send(tensor(outline, kDouble).to(device(groups)), to, kLendTag, {});
  for (const Bucket* bucket : buckets_of(to)) {
    std::vector<Tensor> gradients;
    for (const Tensor& p : bucket->params) gradients.push_back(gradient_to_lend(p));
    group_->send(bucket->layout.flatten(gradients), to, kLendTag, {});
  }
}

LentStep ZeroPartition::borrow(ParamGroups& groups, const JoinTurn& turn) {
  const NoGradGuard values_only;
  bring_up_to_date(groups);
  const std::vector<const Bucket*> buckets = buckets_of(rank());
  std::vector<double> numbers = numbers_of(groups);
  std::vector<Tensor> params, gradients;
  for (const Bucket* b : buckets) params.insert(params.end(), b->params.begin(), b->params.end());

  const auto length = static_cast<int64_t>(numbers.size() + params.size());
  const Tensor outline = empty({length}, TensorOptions(kDouble).device(device(groups)));
  group_->recv(outline, turn.last(), kLendTag, {});
  const Tensor told = outline.cpu();
  const double* next = told.data_ptr<double>();
  for (double& number : numbers) number = *next++;
  for (const Bucket* bucket : buckets) {
    const Tensor flat = bucket->layout.allocate(bucket->params[0].device());
    group_->recv(flat, turn.last(), kLendTag, {});
    for (size_t i = 0; i < bucket->params.size(); ++i)
      gradients.push_back(*next++ != 0 ? bucket->layout.part(flat, i) : Tensor());
  }
  const std::vector<Tensor> others = others_parameters(groups);
  params.insert(params.end(), others.begin(), others.end());
  gradients.resize(params.size());
  return LentStep(groups, std::move(numbers), std::move(params), std::move(gradients));
}

}  // namespace taeda::inline v0_2::distributed::detail
