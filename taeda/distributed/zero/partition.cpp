#include "taeda/distributed/zero/partition.h"

#include <algorithm>
#include <numeric>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::detail {

std::vector<int> give_out(ArrayRef<int64_t> params, std::vector<int64_t>& elements) {
  std::vector<size_t> order(params.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return params[i]; });
  std::vector<int> owners(params.size());
  for (const size_t i : order) {
    const auto least = std::min_element(elements.begin(), elements.end());
    owners[i] = static_cast<int>(least - elements.begin());
    *least += params[i];
  }
  return owners;
}

ZeroPartition::ZeroPartition(ZeroOptions options)
    : group_(options.process_group ? options.process_group : default_group()),
      views_(options.parameters_as_bucket_view),
      elements_(static_cast<size_t>(group_->size()), 0) {
  TAEDA_CHECK_VALUE(group_->is_member(), "ZeroRedundancyOptimizer: this process is not in group '",
                    group_->name(), "'");
}

void ZeroPartition::give_out(const ParamGroups& groups) {
  owners_.resize(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<int64_t> fresh;
    for (size_t i = owners_[g].size(); i < groups[g].params().size(); ++i)
      fresh.push_back(groups[g].params()[i].numel());
    if (fresh.empty()) continue;
    const std::vector<int> owners = detail::give_out(fresh, elements_);
    owners_[g].insert(owners_[g].end(), owners.begin(), owners.end());
  }
}

int ZeroPartition::owner(const ParamGroups& groups, size_t number) {
  give_out(groups);
  for (const std::vector<int>& owners : owners_) {
    if (number < owners.size()) return owners[number];
    number -= owners.size();
  }
  throw ValueError("ZeroRedundancyOptimizer: there are fewer parameters");
}

std::vector<std::vector<Tensor>> ZeroPartition::by_owner(const ParamGroups& groups) {
  give_out(groups);
  std::vector<std::vector<Tensor>> out(elements_.size());
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t i = 0; i < owners_[g].size(); ++i)
      out[static_cast<size_t>(owners_[g][i])].push_back(groups[g].params()[i]);
  return out;
}

std::vector<Tensor> ZeroPartition::others_parameters(const ParamGroups& groups) {
  std::vector<Tensor> others;
  const auto params = by_owner(groups);
  for (size_t r = 0; r < params.size(); ++r)
    if (static_cast<int>(r) != rank())
      others.insert(others.end(), params[r].begin(), params[r].end());
  return others;
}

OtherGradients ZeroPartition::hide_others(const ParamGroups& groups) {
  std::vector<Tensor> others = others_parameters(groups);
  std::vector<Tensor> none(others.size());
  return OtherGradients(std::move(others), std::move(none));
}

bool ZeroPartition::up_to_date(const std::vector<std::vector<Tensor>>& params) const {
  std::vector<size_t> seen(params.size(), 0);
  for (const Bucket& b : buckets_) {
    const auto owner = static_cast<size_t>(b.owner);
    for (size_t i = 0; i < b.params.size(); ++i) {
      const Tensor& p = b.params[i];
      if (seen[owner] == params[owner].size() || !p.is_same(params[owner][seen[owner]++]))
        return false;
      if (b.flat.defined() && p.storage() != b.flat.storage()) return false;
    }
    if (!b.layout.fits(b.params)) return false;
  }
  for (size_t r = 0; r < params.size(); ++r)
    if (seen[r] != params[r].size()) return false;
  return true;
}

void ZeroPartition::make_buckets(const std::vector<std::vector<Tensor>>& params) {
  buckets_.clear();
  for (size_t r = 0; r < params.size(); ++r) {
    std::vector<size_t> order(params[r].size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (const std::vector<size_t>& members :
         nn::parallel::make_buckets(params[r], order, order, nn::parallel::kValueLimits)) {
      Bucket bucket{static_cast<int>(r), {}, {}, {}};
      for (const size_t i : members) bucket.params.push_back(params[r][i]);
      bucket.layout = nn::parallel::FlatLayout(bucket.params);
      if (views_) make_views(bucket);
      buckets_.push_back(std::move(bucket));
    }
  }
}

void ZeroPartition::make_views(Bucket& bucket) const {
  bucket.flat = bucket.layout.allocate(bucket.params[0].device());
  for (size_t i = 0; i < bucket.params.size(); ++i) {
    const Tensor part = bucket.layout.part(bucket.flat, i);
    part.copy_(bucket.params[i]);
    bucket.params[i].set_data(part);
  }
}

WorkPtr ZeroPartition::start(const Bucket& bucket, Tensor& flat) const {
  const bool own = bucket.owner == rank();
  if (bucket.flat.defined())
    flat = bucket.flat;
  else
    flat = own ? bucket.layout.flatten(bucket.params)
               : bucket.layout.allocate(bucket.params[0].device());
  return group_->broadcast(flat, bucket.owner, {.async = true});
}

void ZeroPartition::finish(const Bucket& bucket, const Tensor& flat) const {
  if (bucket.owner == rank()) return;
  for (size_t i = 0; i < bucket.params.size(); ++i)
    if (bucket.flat.defined())
      bump_version(bucket.params[i]);
    else
      bucket.params[i].copy_(bucket.layout.part(flat, i));
}

void ZeroPartition::bring_up_to_date(const ParamGroups& groups) {
  const auto params = by_owner(groups);
  if (!up_to_date(params)) make_buckets(params);
}

void ZeroPartition::share(const ParamGroups& groups) {
  const NoGradGuard values_only;
  bring_up_to_date(groups);
  if (group_->size() == 1) return;
  constexpr size_t kUnderWay = 4;  // so that not all parameters are in memory twice
  std::vector<std::pair<WorkPtr, Tensor>> sent(buckets_.size());
  const auto receive = [&](size_t i) {
    sent[i].first->wait();
    finish(buckets_[i], sent[i].second);
    sent[i] = {};
  };
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (i >= kUnderWay) receive(i - kUnderWay);
    sent[i].first = start(buckets_[i], sent[i].second);
  }
  for (size_t i = buckets_.size() - std::min(buckets_.size(), kUnderWay); i < buckets_.size(); ++i)
    receive(i);
}

}  // namespace taeda::inline v0_2::distributed::detail
