#include "taeda/optim/rule.h"

#include <cmath>
#include <string>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::optim {

namespace {

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

const RuleField* wrong_field(const Rule& rule, const double* values) {
  for (size_t i = 0; i < rule.fields.size(); ++i) {
    const RuleField& field = rule.fields[i];
    if (field.none != 0 && values[i] == field.none) continue;
    if (!in_range(field.range, values[i])) return &field;
  }
  if (rule.check) rule.check(values);
  return nullptr;
}

namespace {
void check_rule(const Rule& rule, const OptimizerOptions& options) {
  TAEDA_CHECK_TYPE(options.rule() == &rule, rule.name,
                   ": a parameter group has the options of another optimizer");
}
}  // namespace

void read_values(const Rule& rule, const OptimizerOptions& options, double* values) {
  check_rule(rule, options);
  const void* config = options.config();
  for (const RuleField& field : rule.fields)
    *values++ = field.read ? field.read(field, config) : field.fallback;
}

void write_values(const Rule& rule, OptimizerOptions& options, const double* values) {
  check_rule(rule, options);
  for (const RuleField& field : rule.fields) {
    if (field.write) field.write(field, options.config(), *values);
    ++values;
  }
}

namespace detail {

double to_place(const RuleField& field, const std::string& word) {
  for (size_t i = 0; i < field.words.size(); ++i)
    if (word == field.words[i] && !word.empty()) return static_cast<double>(i);
  const std::string text = taeda::detail::concat(field.refusal, word, field.refusal_end);
  if (field.plain_error) throw Error(text);
  throw ValueError(text);
}

void refuse_none(const RuleField& field, double value) {
  throw ValueError(taeda::detail::concat(field.refusal, value));
}

void set_number(const RuleField& field, int64_t& to, double value) {
  TAEDA_CHECK_VALUE(std::abs(value) < 0x1p63, field.refusal, value);
  to = static_cast<int64_t>(value);
}

void set_number(const RuleField& field, std::optional<std::string>& to, double value) {
  TAEDA_CHECK_VALUE(value >= 0 && value < static_cast<double>(field.words.size()), field.refusal,
                    value, field.refusal_end);
  const std::string word = field.words[static_cast<size_t>(value)];
  if (word.empty())
    to.reset();
  else if (to || value >= 1)
    to = word;
}

}  // namespace detail

}  // namespace taeda::inline v0_2::optim
