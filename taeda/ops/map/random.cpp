// Random numbers in a map over samples.
#include <string_view>
#include <unordered_map>

#include "taeda/base/error.h"
#include "taeda/device/draws.h"
#include "taeda/ops/map/call.h"

namespace taeda::inline v0_2 {

namespace {

using ArgumentKind = MapArgument::Kind;

enum class Draws : uint8_t { Nothing, Elements, Whole };

/// How an operation draws: for each element, so that more dimensions are more samples, or for all
/// that it is given together.
Draws draws_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Draws> all = [] {
    std::unordered_map<std::string_view, Draws> made;
    for (const char* each : {"rand",          "rand_like",        "randn",
                             "randn_like",    "randint",          "randint_like",
                             "bernoulli",     "normal",           "poisson",
                             "binomial",      "dropout",          "dropout_",
                             "alpha_dropout", "alpha_dropout_",   "rrelu",
                             "rrelu_",        "rrelu_with_noise", "rrelu_with_noise_",
                             "uniform_",      "normal_",          "random_",
                             "bernoulli_",    "exponential_",     "geometric_",
                             "cauchy_",       "log_normal_"})
      made[each] = Draws::Elements;
    for (const char* each :
         {"lstm", "gru", "rnn_tanh", "rnn_relu", "randperm", "multinomial", "feature_dropout",
          "feature_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"})
      made[each] = Draws::Whole;
    return made;
  }();
  const auto found = all.find(name);
  return found == all.end() ? Draws::Nothing : found->second;
}

bool has_tensor(const MapCall& call) { return !call.operands.empty(); }

/// The sizes of what is made, with the samples in front.
bool add_samples_to_sizes(MapCall& call) {
  for (size_t i = 0; i < call.size(); ++i) {
    if (!call.is(i, ArgumentKind::Ints)) continue;
    IntArrayRef& sizes = call.at<IntArrayRef>(i);
    sizes = call.keep(with_samples(call.samples, sizes));
    return true;
  }
  return false;
}

void draw_for_each(MapCall& call, Draws draws) {
  if (call.in_place)
    TAEDA_CHECK(call.operands[0].mapped,
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This "
                "will appear like same randomness. If this is necessary for your usage, please "
                "file an issue with functorch.");
  if (draws == Draws::Whole || (!has_tensor(call) && !add_samples_to_sizes(call)))
    return loop_over_samples(call);
  call.expand_all();
  call.align_all(call.most_dims());
  call.results = call.run();
}

}  // namespace

bool draws_numbers(const MapCall& call) {
  const std::string_view name = call.name();
  if (draws_of(name) == Draws::Nothing) return false;
  if (call.size() == 9)  // a recurrent network of several layers, with dropout between them
    return call.at<bool>(6) && call.at<double>(5) > 0 && call.at<int64_t>(4) > 1;
  if (name.find("dropout") != name.npos) return call.at<bool>(2) && call.at<double>(1) > 0;
  if (name.starts_with("rrelu"))
    for (size_t i = 0; i < call.size(); ++i)
      if (call.is(i, ArgumentKind::Bool)) return call.at<bool>(i);
  return true;
}

bool answer_random(MapCall& call, bool has_mapped) {
  const Randomness randomness = Maps::randomness(call.level);
  if (randomness == Randomness::Error) check_draws();
  if (randomness == Randomness::Different) {
    draw_for_each(call, draws_of(call.name()));
    return true;
  }
  if (has_mapped)
    loop_over_samples(call, true);
  else
    call.results = call.run();
  return has_mapped;
}

DrawsAgain::DrawsAgain(bool on, const std::vector<Tensor>& operands) {
  if (!on) return;
  Device device(kCPU);
  for (const Tensor& t : operands)
    if (!t.is_meta()) device = t.device();
  states_.emplace_back(default_generator(device), default_generator(device).get_state());
}

void DrawsAgain::again() const {
  for (const auto& [generator, state] : states_) generator.set_state(ArrayRef<uint8_t>(state));
}

}  // namespace taeda::inline v0_2
