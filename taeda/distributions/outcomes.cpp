#include "taeda/distributions/outcomes.h"

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::distributions {

TwoOutcomes::Argument TwoOutcomes::probabilities(Chances probs) {
  if (probs.are_logits) return {"logits", std::move(probs.value), constraints::real()};
  return {"probs", std::move(probs.value), constraints::unit_interval()};
}

Tensor TwoOutcomes::probs() const {
  return given(at_, "probs") ? argument(at_) : argument(at_).sigmoid();
}

Tensor TwoOutcomes::logits() const {
  return given(at_, "logits") ? argument(at_) : logits_of_binary(argument(at_));
}

TwoOutcomes::Chance TwoOutcomes::chance(bool second) const {
  if (given(at_, "logits")) {
    const Tensor odds = second ? argument(at_) : argument(at_).neg();
    const Tensor log = log_sigmoid(odds);
    // Near 1 the slope is taken from the logarithm: y (1 - y) is 0 there.
    return {where(odds.lt(0), odds.sigmoid(), log.exp()), log};
  }
  const Tensor p = second ? argument(at_) : argument(at_).neg().add(1), never = p.eq(0);
  return {p, p.masked_fill(never, 1).log().masked_fill(never, -INFINITY)};
}

/// Throws ValueError, naming the distribution, unless the parameter is a tensor with a last
/// dimension.
SeveralOutcomes::Argument SeveralOutcomes::weights(const std::string& name, const Chances& probs) {
  const char* parameter = probs.are_logits ? "logits" : "probs";
  const bool vectors = !probs.value.is_number() && probs.value.tensor().dim() >= 1;
  TAEDA_CHECK_VALUE(vectors, name, ": `", parameter,
                    "` parameter must be at least one-dimensional.");
  const Tensor& t = probs.value.tensor();
  if (probs.are_logits) return {parameter, t.log_softmax(-1), constraints::real_vector()};
  return {parameter, t.div(t.sum({-1}, true)), constraints::simplex()};
}

SeveralOutcomes::SeveralOutcomes(std::string name, Chances probs, Validate validate_args,
                                 int64_t event_dim, std::vector<Argument> more)
    : Distribution(name, (more.insert(more.begin(), weights(name, probs)), std::move(more)),
                   validate_args, event_dim) {}

Tensor SeveralOutcomes::probs() const {
  return given(0, "probs") ? argument(0) : argument(0).softmax(-1);
}

Tensor SeveralOutcomes::logits() const {
  return given(0, "logits") ? argument(0) : clamp_probs(argument(0)).log();
}

}  // namespace taeda::inline v0_2::distributions
