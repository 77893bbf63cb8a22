#include "taeda/optim/rule.h"

#include <algorithm>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"

namespace taeda::inline v0_2::optim {

namespace {

const Rule* const kRules[] = {&sgd_rule,      &adam_rule,   &adamw_rule,     &rmsprop_rule,
                              &adagrad_rule,  &adamax_rule, &nadam_rule,     &radam_rule,
                              &adadelta_rule, &rprop_rule,  &asgd_rule,      &lion_rule,
                              &ademamix_rule, &muon_rule,   &adafactor_rule, &sparse_adam_rule};

/// NaN lies in no range but Any.
bool in_range(Range range, double v) {
  switch (range) {
    case Range::Any: return true;
    case Range::Number: return v == v;
    case Range::AtLeast0: return v >= 0;
    case Range::Above0: return v > 0;
    case Range::From0Below1: return v >= 0 && v < 1;
    case Range::From0To1: return v >= 0 && v <= 1;
    case Range::AtMost0: return v <= 0;
    case Range::AtLeast1: return v >= 1;
  }
  return false;
}

}  // namespace

const Rule* find_rule(std::string_view name) {
  for (const Rule* rule : kRules)
    if (name == rule->name) return rule;
  return nullptr;
}

const RuleField* wrong_field(const Rule& rule, const double* values) {
  for (size_t i = 0; i < rule.fields.size(); ++i)
    if (!in_range(rule.fields[i].range, values[i])) return &rule.fields[i];
  return nullptr;
}

void read_values(const Rule& rule, OptimizerOptions& options, double* values) {
  size_t i = 0;
  options.visit([&](const char*, double value) { return values[i++] = value; });
  for (; i < rule.fields.size(); ++i) values[i] = rule.fields[i].fallback;
}

double RuleNumbers::next(double value) { return visitor_(rule_.fields[shown_++].name, value); }

void RuleNumbers::show(double& option) { option = next(option); }
void RuleNumbers::show(bool& option) { option = next(option) != 0; }
void RuleNumbers::show(int64_t& option) {
  option = static_cast<int64_t>(next(static_cast<double>(option)));
}

void RuleNumbers::show(std::optional<double>& option) {
  const double none = rule_.fields[shown_].none, value = next(option.value_or(none));
  option = value == none ? std::nullopt : std::optional(value);
}

void RuleNumbers::show(std::optional<std::string>& option) {
  const RuleField& field = rule_.fields[shown_];
  const auto known =
      option ? std::find(field.words.begin(), field.words.end(), *option) : field.words.begin();
  const double place = next(static_cast<double>(known - field.words.begin()));
  TAEDA_CHECK_VALUE(place >= 0 && place < static_cast<double>(field.words.size()), field.refusal,
                    place, " is not supported");
  if (option || place != 0) option = field.words[static_cast<size_t>(place)];
}

void check_values(const Rule& rule, const OptimizerOptions& options) {
  double values[Rule::kMostFields];
  read_values(rule, *options.clone(), values);
  if (const RuleField* wrong = wrong_field(rule, values))
    throw ValueError(taeda::detail::concat(wrong->refusal, values[wrong - rule.fields.begin()]));
  if (rule.check) rule.check(values);
}

}  // namespace taeda::inline v0_2::optim
