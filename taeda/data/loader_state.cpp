#include "taeda/data/loader_state.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::data::detail {

namespace {

Tensor to_tensor(const std::vector<uint8_t>& bytes) {
  Tensor out = empty({static_cast<int64_t>(bytes.size())}, TensorOptions(kByte).device(kCPU));
  std::memcpy(out.data_ptr(), bytes.data(), bytes.size());
  return out;
}

/// The bytes of a random state; none if the loader state does not have it.
std::vector<uint8_t> bytes_of(const LoaderState& state, const std::string& name) {
  const Tensor* found = state.tensors.find(name);
  if (!found) return {};
  TAEDA_CHECK_VALUE(found->dtype() == kByte && found->dim() == 1 && found->is_contiguous(),
                    "DataLoader state: '", name, "' should be a vector of bytes");
  const auto* data = found->data_ptr<uint8_t>();
  return {data, data + found->numel()};
}

constexpr std::string_view kOfSampler = "sampler.";

/// The sampler's numbers in a loader's state.
samplers::SamplerState sampler_numbers(const LoaderState& state) {
  samplers::SamplerState out;
  for (const auto& item : state.numbers)
    if (item.key().starts_with(kOfSampler))
      out.insert(item.key().substr(kOfSampler.size()), item.value());
  return out;
}

}  // namespace

EpochOrder::EpochOrder(std::optional<Generator> own, std::shared_ptr<samplers::Sampler> sampler,
                       bool draws_seeds)
    : own_(std::move(own)), sampler_(std::move(sampler)), draws_seeds_(draws_seeds) {}

Generator EpochOrder::order_generator() const { return own_ ? *own_ : default_generator(kCPU); }

std::optional<Generator> EpochOrder::sampler_generator() const {
  std::optional<Generator> g = sampler_->generator();
  if (g && *g == order_generator()) return std::nullopt;
  return g;
}

EpochOrder::States EpochOrder::now() const {
  const std::optional<Generator> of_sampler = sampler_generator();
  return {order_generator().get_state(), of_sampler ? of_sampler->get_state() : Bytes(),
          sampler_->state_at_reset()};
}

EpochOrder::Start EpochOrder::begin() {
  const Generator generator = order_generator();
  const std::optional<Pending> pending = std::exchange(pending_, std::nullopt);
  // The default generator serves others too: it goes back to where they are.
  const Bytes others = pending && !own_ ? generator.get_state() : Bytes();
  if (pending) {
    generator.set_state(pending->states.generator);
    if (const auto of_sampler = sampler_generator(); of_sampler && !pending->states.sampler.empty())
      of_sampler->set_state(pending->states.sampler);
  }
  start_ = now();
  // Python's loaders draw a seed for the workers here, and the order of the epoch depends on it.
  const Generator seeds = draws_seeds_ ? generator : generator.clone();
  Start out{seeds.random64(), pending ? pending->batch : 0};
  sampler_->reset();
  if (!others.empty()) generator.set_state(others);
  return out;
}

void EpochOrder::save(LoaderState& state, std::optional<size_t> position) const {
  const bool waiting = !position && pending_;
  const States states = waiting ? pending_->states : position ? start_ : now();
  if (position || waiting || own_) state.tensors.insert("generator", to_tensor(states.generator));
  if (!states.sampler.empty()) state.tensors.insert("sampler", to_tensor(states.sampler));
  for (const auto& item : states.numbers)
    state.numbers.insert(std::string(kOfSampler) + item.key(), item.value());
  state.numbers.insert("epoch", position || waiting ? 1 : 0);
  state.numbers.insert("batch",
                       static_cast<double>(waiting ? pending_->batch : position.value_or(0)));
}

void EpochOrder::load(const LoaderState& state) {
  const bool in_epoch = state_number(state, "epoch") != 0;
  const double batch = state_number(state, "batch");
  States states{bytes_of(state, "generator"), bytes_of(state, "sampler"), sampler_numbers(state)};
  const auto of_sampler = sampler_generator();
  TAEDA_CHECK_VALUE(batch >= 0 && batch < 1e15, "DataLoader state: there is no batch ", batch);
  TAEDA_CHECK_VALUE(!states.generator.empty() || (!in_epoch && !own_),
                    "DataLoader state: 'generator' is missing");
  TAEDA_CHECK_VALUE(
      states.sampler.empty() == !of_sampler, "DataLoader state: it is of a loader ",
      of_sampler ? "whose sampler has no generator" : "whose sampler has a generator");
  // Checked on copies, so that nothing changes if it throws.
  if (!states.generator.empty()) order_generator().clone().set_state(states.generator);
  if (of_sampler) of_sampler->clone().set_state(states.sampler);
  // Now, and not when the epoch begins: a program may set another number of the epoch until then.
  sampler_->load_state_dict(states.numbers);
  pending_.reset();
  if (in_epoch) {
    pending_ = {std::move(states), static_cast<size_t>(batch)};
    return;
  }
  if (own_) own_->set_state(states.generator);
  if (of_sampler) of_sampler->set_state(states.sampler);
}

double state_number(const LoaderState& state, const std::string& name) {
  const double* found = state.numbers.find(name);
  TAEDA_CHECK_VALUE(found, "DataLoader state: '", name, "' is missing");
  return *found;
}

void check_same_batches(const LoaderState& state, size_t batch_size,
                        std::optional<size_t> examples) {
  const double size = state_number(state, "batch_size"), count = state_number(state, "examples");
  TAEDA_CHECK_VALUE(size == static_cast<double>(batch_size),
                    "DataLoader state: it is of a loader with batch_size=", size,
                    ", this one has batch_size=", batch_size);
  TAEDA_CHECK_VALUE(count == static_cast<double>(examples.value_or(0)),
                    "DataLoader state: it is of a loader over ", count, " examples, this one has ",
                    examples.value_or(0));
}

}  // namespace taeda::data::detail
