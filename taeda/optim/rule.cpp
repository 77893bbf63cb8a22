#include "taeda/optim/rule.h"

#include <string_view>
#include <typeinfo>

#include "taeda/base/error.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"

namespace taeda::inline v0_2::optim {

namespace {

/// Every rule, and the options that its C++ class has.
struct RuleRow {
  const Rule* rule;
  const std::type_info* options;
};

const RuleRow kRules[] = {
    {&sgd_rule, &typeid(SGDOptions)},
    {&adam_rule, &typeid(AdamOptions)},
    {&adamw_rule, &typeid(AdamWOptions)},
    {&rmsprop_rule, &typeid(RMSpropOptions)},
    {&adagrad_rule, &typeid(AdagradOptions)},
    {&adamax_rule, &typeid(AdamaxOptions)},
    {&nadam_rule, &typeid(NAdamOptions)},
    {&radam_rule, &typeid(RAdamOptions)},
    {&adadelta_rule, &typeid(AdadeltaOptions)},
    {&rprop_rule, &typeid(RpropOptions)},
    {&asgd_rule, &typeid(ASGDOptions)},
    {&lion_rule, &typeid(LionOptions)},
    {&ademamix_rule, &typeid(AdEMAMixOptions)},
    {&adafactor_rule, &typeid(AdafactorOptions)},
    {&muon_rule, &typeid(MuonOptions)},
    {&sparse_adam_rule, &typeid(SparseAdamOptions)},
};

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
  for (const RuleRow& row : kRules)
    if (name == row.rule->name) return row.rule;
  return nullptr;
}

const Rule* rule_of(const OptimizerOptions& options) {
  for (const RuleRow& row : kRules)
    if (typeid(options) == *row.options) return row.rule;
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

void check_values(const Rule& rule, const OptimizerOptions& options) {
  double values[Rule::kMostFields];
  read_values(rule, *options.clone(), values);
  if (const RuleField* wrong = wrong_field(rule, values))
    throw ValueError(taeda::detail::concat(wrong->refusal, values[wrong - rule.fields.begin()]));
  if (rule.check) rule.check(values);
}

}  // namespace taeda::inline v0_2::optim
