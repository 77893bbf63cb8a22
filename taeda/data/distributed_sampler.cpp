#include "taeda/data/distributed_sampler.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/io/keyed_archive.h"

namespace taeda::inline v0_2::data::samplers {

SamplerState StatefulDistributedSampler::state_with(size_t yielded) const {
  SamplerState state = DistributedSampler::state_at_reset();
  state.insert("yielded", static_cast<double>(yielded));
  return state;
}

SamplerState StatefulDistributedSampler::state_dict() const {
  return state_with(to_skip_.value_or(ended() ? 0 : skipped_ + handed_out()));
}

SamplerState StatefulDistributedSampler::state_at_reset() const {
  return state_with(to_skip_.value_or(0));
}

void StatefulDistributedSampler::load_state_dict(const SamplerState& state) {
  SamplerState of_base;
  for (const auto& item : state)
    if (item.key() != "yielded") of_base.insert(item.key(), item.value());
  const size_t yielded = detail::count_in(state, "yielded", 0);
  TAEDA_CHECK_VALUE(yielded <= size(), "sampler state: it has yielded ", yielded,
                    " indices, but an epoch of this sampler has ", size());
  DistributedSampler::load_state_dict(of_base);
  to_skip_ = yielded;
}

std::vector<size_t> StatefulDistributedSampler::epoch() {
  skipped_ = std::exchange(to_skip_, std::nullopt).value_or(0);
  std::vector<size_t> all = DistributedSampler::epoch();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(skipped_));
  return all;
}

DistributedBlockSampler::DistributedBlockSampler(size_t size, size_t num_replicas, size_t rank,
                                                 bool allow_duplicates)
    : source_(size),
      replica_(num_replicas, rank),
      allow_duplicates_(allow_duplicates),
      count_(replica_.share_of(size, !allow_duplicates)) {}

void DistributedBlockSampler::reset() {
  size_t whole = 0;
  TAEDA_CHECK_VALUE(!__builtin_mul_overflow(count_, replica_.count, &whole) &&
                        whole < std::vector<size_t>().max_size(),
                    "a distributed sampler cannot list ", source_, " examples");
  std::vector<size_t> all(whole);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i % source_;
  arrange(all);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(replica_.rank * count_);
  indices_.assign(begin, begin + static_cast<std::ptrdiff_t>(count_));
  position_ = 0;
}

std::optional<std::vector<size_t>> DistributedBlockSampler::next(size_t batch_size) {
  if (indices_.size() != count_) reset();
  const size_t n = std::min(batch_size, count_ - position_);
  if (n == 0) return std::nullopt;
  const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(position_);
  position_ += n;
  return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(n));
}

void DistributedBlockSampler::resize(size_t size) {
  source_ = size;
  count_ = replica_.share_of(size, !allow_duplicates_);
}

void DistributedBlockSampler::save(serialize::OutputArchive& archive) const {
  archive.write("sample_index_", IValue(position_));
  archive.write("epoch_", IValue(static_cast<int64_t>(replica_.epoch)));
}

void DistributedBlockSampler::load(serialize::InputArchive& archive) {
  const size_t epoch = detail::read_count(archive, "epoch_", INT64_MAX);
  const size_t position = detail::read_count(archive, "sample_index_", count_);
  replica_.epoch = epoch;
  reset();
  position_ = position;
}

void DistributedBlockSampler::load_state_dict(const SamplerState& state) {
  replica_.load(state, "a distributed sampler");
}

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank,
                                                   bool allow_duplicates)
    : DistributedBlockSampler(size, num_replicas, rank, allow_duplicates) {}

void DistributedRandomSampler::arrange(std::vector<size_t>& all) const {
  std::mt19937 random(static_cast<std::mt19937::result_type>(epoch()));
  std::shuffle(all.begin(), all.end(), random);
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas,
                                                           size_t rank, bool allow_duplicates)
    : DistributedBlockSampler(size, num_replicas, rank, allow_duplicates) {}

}  // namespace taeda::inline v0_2::data::samplers
