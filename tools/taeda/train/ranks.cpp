#include "tools/taeda/train/ranks.h"

#include <algorithm>
#include <cstdlib>

#include "taeda/device/generator.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "tools/taeda/train/together.h"

namespace taeda::tool {

bool Ranks::told_by_environment() { return std::getenv("RANK") != nullptr; }

Ranks Ranks::join(int64_t nproc) {
  const together::Place place = together::join(nproc);
  Ranks out;
  out.rank_ = place.rank;
  out.size_ = place.size;
  out.local_rank_ = place.local_rank;
  return out;
}

void Ranks::leave() const {
  if (size_ > 1) together::leave();
}

Share Ranks::share_of(const data::Example<>& batch) const {
  if (size_ == 1) return {batch.data, batch.target};
  const int64_t all = batch.data.size(0), even = all / size_, more = all % size_;
  const int64_t first = even * rank_ + std::min<int64_t>(rank_, more),
                rows = even + (rank_ < more ? 1 : 0);
  return {.data = batch.data.narrow(0, first, rows),
          .target = batch.target.narrow(0, first, rows),
          .weight = static_cast<double>(rows) * size_ / static_cast<double>(all),
          .first_target = first * (batch.target.numel() / all)};
}

bool Ranks::any(bool mine) const {
  if (size_ == 1) return mine;
  const Tensor yes = full({1}, mine ? 1 : 0, kInt);
  together::take_largest(yes);
  return yes.item<int>() != 0;
}

void Ranks::add_up(const Tensor& values) const {
  if (size_ > 1) together::add_up(values);
}

std::vector<double> Ranks::sum(const std::vector<double>& mine) const {
  if (size_ == 1) return mine;
  const Tensor all = tensor(mine, kDouble);
  add_up(all);
  return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

std::vector<RankState> Ranks::gather(const RankState& mine) const {
  if (size_ == 1) return {mine};
  std::vector<RankState> out(leads() ? static_cast<size_t>(size_) : 0);
  for (const auto& [name, value] : mine) {
    std::vector<Tensor> values;
    for (size_t r = 0; r < out.size(); ++r) values.push_back(empty_like(value));
    together::gather(value, values);
    for (size_t r = 0; r < out.size(); ++r) out[r][name] = values[r];
  }
  return out;
}

void Ranks::separate_random_numbers(int64_t seed) const {
  // Far from the seeds that other runs would be given.
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  if (rank_ > 0) manual_seed(static_cast<uint64_t>(seed) + kStep * static_cast<uint64_t>(rank_));
}

}  // namespace taeda::tool
