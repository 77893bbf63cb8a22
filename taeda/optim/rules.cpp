#include <string_view>

#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

const Rule* const kRules[] = {
    &sgd_rule,      &adam_rule,  &adamw_rule,     &rmsprop_rule,     &adagrad_rule, &adamax_rule,
    &nadam_rule,    &radam_rule, &adadelta_rule,  &rprop_rule,       &asgd_rule,    &lion_rule,
    &ademamix_rule, &muon_rule,  &adafactor_rule, &sparse_adam_rule, &lbfgs_rule};

}  // namespace

const Rule* find_rule(std::string_view name) {
  for (const Rule* rule : kRules)
    if (name == rule->name) return rule;
  return nullptr;
}

}  // namespace taeda::inline v0_2::optim
