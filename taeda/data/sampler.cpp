#include "taeda/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <stdexcept>

#include "taeda/base/error.h"
#include "taeda/io/keyed_archive.h"

namespace taeda::inline v0_2::data::samplers {

namespace {

std::vector<size_t> permutation(size_t n, const Generator& g) {
  std::vector<size_t> indices(n);
  static_assert(sizeof(size_t) == sizeof(int64_t));
  g.fill_permutation(reinterpret_cast<int64_t*>(indices.data()), static_cast<int64_t>(n));
  return indices;
}

/// A fresh generator seeded with the next number of the default one.
Generator seeded_by_default() {
  constexpr uint64_t kInt64Max = 0x7fffffffffffffff;
  return Generator(kCPU, default_generator(kCPU).random64() & kInt64Max);
}

}  // namespace

void Sampler::load_state_dict(const SamplerState& state) {
  for (const auto& item : state)
    TAEDA_CHECK_VALUE(false, "sampler state: this sampler has no '", item.key(), "'");
}

void Sampler::save(serialize::OutputArchive&) const {
  throw NotImplementedError("save: this sampler does not say where it stands");
}

void Sampler::load(serialize::InputArchive&) {
  throw NotImplementedError("load: this sampler does not say where it stands");
}

void Sampler::resize(size_t size) {
  throw NotImplementedError(taeda::detail::concat("reset: this sampler cannot take ", size,
                                                  " as the size of another dataset"));
}

size_t detail::read_count(serialize::InputArchive& archive, const char* name, size_t most) {
  IValue value;
  archive.read(name, value);
  const int64_t count = value.toInt();
  TAEDA_CHECK_VALUE(count >= 0 && static_cast<uint64_t>(count) <= most, "load: the sampler's ",
                    name, " is ", count, ", but there are ", most);
  return static_cast<size_t>(count);
}

void ListSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(position_));
  archive.write("indices", IValue(std::vector<int64_t>(indices_.begin(), indices_.end())));
}

void ListSampler::load(serialize::InputArchive& archive) {
  IValue list;
  archive.read("indices", list);
  const std::vector<int64_t> indices = list.toIntVector();
  for (int64_t i : indices) TAEDA_CHECK_VALUE(i >= 0, "load: the sampler's indices hold ", i);
  position_ = detail::read_count(archive, "index", indices.size());
  indices_.assign(indices.begin(), indices.end());
  started_ = !indices_.empty();
  ended_ = false;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  archive.write("index", IValue(position_));
}

void SequentialSampler::load(serialize::InputArchive& archive) {
  position_ = detail::read_count(archive, "index", size_);
}

void RandomSampler::resize(size_t size) {
  TAEDA_CHECK_VALUE(size > 0, "RandomSampler cannot draw from 0 examples");
  source_ = num_samples_ = size;
}

void ListSampler::reset() {
  const auto too_many = [&] {
    return OutOfMemoryError(
        taeda::detail::concat("a sampler's ", size(), " indices do not fit into memory"));
  };
  try {
    indices_ = epoch();
  } catch (const std::bad_alloc&) {
    throw too_many();
  } catch (const std::length_error&) {
    throw too_many();
  }
  position_ = 0;
  started_ = true;
  ended_ = false;
}

std::optional<std::vector<size_t>> ListSampler::next(size_t batch_size) {
  if (!started_) reset();
  const size_t n = std::min(batch_size, indices_.size() - position_);
  ended_ = n == 0;
  if (ended_) return std::nullopt;
  const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(position_);
  position_ += n;
  return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(n));
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t n = std::min(batch_size, size_ - position_);
  if (n == 0) return std::nullopt;
  std::vector<size_t> out(n);
  std::iota(out.begin(), out.end(), position_);
  position_ += n;
  return out;
}

RandomSampler::RandomSampler(size_t size, bool replacement, std::optional<size_t> num_samples,
                             std::optional<Generator> generator)
    : source_(size),
      num_samples_(num_samples.value_or(size)),
      replacement_(replacement),
      generator_(std::move(generator)) {
  // Negative numbers of a program arrive as very large ones.
  const auto samples = static_cast<int64_t>(num_samples_), examples = static_cast<int64_t>(size);
  TAEDA_CHECK_VALUE(
      samples > 0, "num_samples should be a positive integer value, but got num_samples=", samples);
  TAEDA_CHECK_VALUE(examples > 0, "RandomSampler cannot draw ", samples, " samples from ", examples,
                    " examples");
}

std::vector<size_t> RandomSampler::epoch() {
  const Generator g = generator_ ? *generator_ : seeded_by_default();
  std::vector<size_t> out;
  if (replacement_) {
    std::vector<int64_t> drawn(num_samples_);
    g.fill_randint(drawn.data(), static_cast<int64_t>(num_samples_), 0, source_);
    return {drawn.begin(), drawn.end()};
  }
  out.reserve(num_samples_);
  while (out.size() + source_ <= num_samples_) {
    const std::vector<size_t> round = permutation(source_, g);
    out.insert(out.end(), round.begin(), round.end());
  }
  // PyTorch draws one more permutation for the rest even when the rest is empty, which a generator
  // of the user's notices in the next epoch.
  const std::vector<size_t> rest = permutation(source_, g);
  out.insert(out.end(), rest.begin(),
             rest.begin() + static_cast<std::ptrdiff_t>(num_samples_ - out.size()));
  return out;
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<size_t> indices,
                                         std::optional<Generator> generator)
    : subset_(std::move(indices)), generator_(std::move(generator)) {}

std::vector<size_t> SubsetRandomSampler::epoch() {
  std::vector<size_t> order =
      permutation(subset_.size(), generator_ ? *generator_ : default_generator(kCPU));
  for (size_t& i : order) i = subset_[i];
  return order;
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, size_t num_samples,
                                             bool replacement, std::optional<Generator> generator)
    : weights_(std::move(weights)),
      num_samples_(num_samples),
      replacement_(replacement),
      generator_(std::move(generator)) {
  TAEDA_CHECK_VALUE(num_samples_ > 0,
                    "num_samples should be a positive integer value, but got num_samples=0");
  size_t positive = 0;
  for (double w : weights_) {
    TAEDA_CHECK_VALUE(std::isfinite(w) && w >= 0,
                      "probability tensor contains either `inf`, `nan` or element < 0");
    positive += w > 0;
  }
  TAEDA_CHECK_VALUE(std::isfinite(std::accumulate(weights_.begin(), weights_.end(), 0.)),
                    "invalid multinomial distribution (the sum of the weights is no number)");
  TAEDA_CHECK_VALUE(positive > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
  TAEDA_CHECK_VALUE(replacement_ || num_samples_ <= positive,
                    "invalid multinomial distribution (with replacement=False, not enough "
                    "non-negative category to sample)");
}

std::vector<size_t> WeightedRandomSampler::epoch() {
  const Generator& g = generator_ ? *generator_ : default_generator(kCPU);
  return replacement_ ? draw_with_replacement(g) : draw_without_replacement(g);
}

/// Inverts the cumulative distribution by binary search.
std::vector<size_t> WeightedRandomSampler::draw_with_replacement(const Generator& g) const {
  std::vector<double> cumulative(weights_.size());
  std::partial_sum(weights_.begin(), weights_.end(), cumulative.begin());
  const double sum = cumulative.back();
  for (double& c : cumulative) c /= sum;
  cumulative.back() = 1;
  std::vector<size_t> out(num_samples_);
  for (size_t& index : out) {
    const auto found = std::lower_bound(cumulative.begin(), cumulative.end(), g.uniform());
    index = static_cast<size_t>(found - cumulative.begin());
  }
  return out;
}

/// The largest weight_i / e_i with e_i exponentially distributed, n times (Efraimidis and Spirakis,
/// "Weighted random sampling with a reservoir", 2006).
std::vector<size_t> WeightedRandomSampler::draw_without_replacement(const Generator& g) const {
  std::vector<double> key(weights_.size());
  for (size_t i = 0; i < key.size(); ++i) key[i] = weights_[i] / -std::log1p(-g.uniform());
  std::vector<size_t> order(weights_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(num_samples_);
  std::partial_sort(order.begin(), middle, order.end(),
                    [&](size_t a, size_t b) { return key[a] != key[b] ? key[a] > key[b] : a < b; });
  order.resize(num_samples_);
  return order;
}

namespace detail {

size_t count_in(const SamplerState& state, const std::string& name, size_t otherwise) {
  const double* found = state.find(name);
  if (!found) return otherwise;
  TAEDA_CHECK_VALUE(*found >= 0 && *found < 0x1p53 && *found == std::floor(*found),
                    "sampler state: expected a count as '", name, "', got ", *found);
  return static_cast<size_t>(*found);
}

Replica::Replica(size_t replicas, size_t own_rank) : count(replicas), rank(own_rank) {
  TAEDA_CHECK_VALUE(count > 0, "num_replicas should be positive, got 0");
  TAEDA_CHECK_VALUE(rank < count, "Invalid rank ", rank, ", rank should be in the interval [0, ",
                    count - 1, "]");
}

size_t Replica::share_of(size_t size, bool drop_last) const {
  return drop_last ? size / count : size / count + (size % count != 0);
}

SamplerState Replica::state() const {
  return {{"epoch", static_cast<double>(epoch)}, {"num_replicas", static_cast<double>(count)}};
}

void Replica::load(const SamplerState& state, const char* sampler) {
  for (const auto& item : state)
    TAEDA_CHECK_VALUE(item.key() == "epoch" || item.key() == "num_replicas",
                      "sampler state: ", sampler, " has no '", item.key(), "'");
  const size_t replicas = count_in(state, "num_replicas", count);
  TAEDA_CHECK_VALUE(replicas == count, "sampler state: it is of ", replicas,
                    " replicas, but this sampler has num_replicas=", count);
  epoch = count_in(state, "epoch", epoch);
}

}  // namespace detail

DistributedSampler::DistributedSampler(size_t size, size_t num_replicas, size_t rank, bool shuffle,
                                       uint64_t seed, bool drop_last)
    : source_(size),
      replica_(num_replicas, rank),
      num_samples_(replica_.share_of(size, drop_last)),
      shuffle_(shuffle),
      seed_(seed) {}

void DistributedSampler::load_state_dict(const SamplerState& state) {
  replica_.load(state, "DistributedSampler");
}

std::vector<size_t> DistributedSampler::epoch() {
  std::vector<size_t> all(source_);
  if (shuffle_) {
    all = permutation(source_, Generator(kCPU, seed_ + replica_.epoch));
  } else {
    std::iota(all.begin(), all.end(), size_t{0});
  }
  std::vector<size_t> mine(num_samples_);
  for (size_t i = 0; i < num_samples_; ++i)
    mine[i] = all[(replica_.rank + i * replica_.count) % source_];
  return mine;
}

BatchSampler::BatchSampler(std::shared_ptr<Sampler> sampler, size_t batch_size, bool drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  TAEDA_CHECK_VALUE(sampler_, "BatchSampler expects a sampler, but got a null pointer");
  TAEDA_CHECK_VALUE(batch_size > 0,
                    "batch_size should be a positive integer value, but got batch_size=0");
}

std::optional<std::vector<size_t>> BatchSampler::next(size_t) {
  auto batch = sampler_->next(batch_size_);
  if (batch && drop_last_ && batch->size() < batch_size_) return std::nullopt;
  return batch;
}

size_t BatchSampler::batches() const {
  const size_t n = sampler_->size();
  return n / batch_size_ + (!drop_last_ && n % batch_size_ != 0);
}

}  // namespace taeda::inline v0_2::data::samplers
