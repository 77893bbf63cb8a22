// Bases of discrete distributions, whose probabilities are given as such or by their logarithms.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Of two outcomes: `probs` is the probability of the second, `logits` log(p / (1 - p)).
class TwoOutcomes : public Distribution {
 public:
  Tensor probs() const;
  Tensor logits() const;
  /// The probabilities of the second outcome (of the first, unless `second`) and their logarithms,
  /// each from what was given: 1 - probs() would lose what is near 0. log 0 has no gradient.
  /// Both have the parameters' shape.
  struct Chance {
    Tensor probability, log;
  };
  Chance chance(bool second) const;

 protected:
  /// The argument at `at` is what probabilities() gives.
  TwoOutcomes(std::string name, std::vector<Argument> arguments, size_t at, Validate validate_args)
      : Distribution(std::move(name), std::move(arguments), validate_args), at_(at) {}
  static Argument probabilities(Chances probs);

 private:
  size_t at_;
};

/// Of k outcomes: `probs` [..., k] are weights, which are divided by their sum; `logits` their
/// logarithms up to a constant, of which logits() is without it.
/// Both at once, or neither, throw ValueError; k is at least 1.
class SeveralOutcomes : public Distribution {
 public:
  Tensor probs() const;
  Tensor logits() const;
  int64_t num_outcomes() const { return argument(0).size(-1); }

 protected:
  /// `more` comes behind the probabilities.
  SeveralOutcomes(std::string name, Chances probs, Validate validate_args, int64_t event_dim,
                  std::vector<Argument> more = {});

 private:
  static Argument weights(const std::string& name, const Chances& probs);
};

}  // namespace taeda::inline v0_2::distributions
