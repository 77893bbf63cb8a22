#include "tests/ops/forms.h"

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/names.h"
#include "taeda/ops/out.h"
#include "taeda/ops/random/random.h"

namespace taeda::testing {

namespace {

Tensors as_list(const Tensor& t) { return {t}; }
template <class... T>
Tensors as_list(const std::tuple<T...>& results) {
  return std::apply([](const auto&... t) { return Tensors{t...}; }, results);
}

using detail::OutRule;

#include "src/forms_table.inc"

/// Inputs to try in turn: operations differ in the dtypes and shapes that they take.
std::vector<Tensors> candidates(int inputs) {
  manual_seed(3);
  const auto numbers = [](IntArrayRef size) { return rand(size).mul(0.6).add(0.2); };
  std::vector<Tensors> out;
  const auto add = [&](Tensors all) { out.emplace_back(all.begin(), all.begin() + inputs); };
  const Tensor index = zeros({3, 3}, kLong), rows = arange(3), mask = numbers({3, 3}).gt(0.5);
  const Tensor symmetric = eye(3).mul(2).add(numbers({3, 3}).mul(0.01));
  const Tensor spd = symmetric.matmul(symmetric.t());
  const Tensor square = numbers({3, 3}), batch = numbers({2, 3, 3}), row = numbers({3});
  add({square, numbers({3, 3}), numbers({3, 3}), numbers({3, 3})});
  add({square.gt(0.5), square, numbers({3, 3}), square});
  add({randint(1, 9, {3, 3}), randint(1, 4, {3, 3}), index, index});
  add({square, index, square, square});
  add({square, rows, square, square});
  add({square, rows, tensor(0.5f), square});
  add({square, mask, square, square});
  add({square, mask, row, row});
  add({square, row, row, row});
  add({row, row, row, row});
  add({row, square, row, row});
  add({batch, batch, batch, batch});
  add({square, batch, batch, batch});
  add({spd, rows.to(kInt).add(1), square, square});
  add({square.to(kComplexFloat), square.to(kComplexFloat), square, square});
  add({numbers({2, 4}), numbers({2, 4}), numbers({2, 4}), numbers({2, 4})});
  add({square, mask, tensor(0.5f), row});
  add({rows, rows, rows, rows});
  add({numbers({1, 2, 4, 4}), numbers({1, 2, 4, 4}), row, row});
  add({square, spd, rows.to(kInt).add(1), square});
  const Tensor four = numbers({2, 2, 2, 2}).add(eye(4).view({2, 2, 2, 2}));
  add({four, four, four, four});
  return out;
}

}  // namespace

const std::vector<Form>& forms() {
  static const std::vector<Form> all(std::begin(kForms), std::end(kForms));
  return all;
}

const std::set<std::string>& forms_without_row() { return kWithoutRow; }

bool find_inputs(const Form& form, Tensors& inputs, Tensors& results) {
  for (const Tensors& c : candidates(form.inputs)) {
    try {
      results = form.plain(c);
      inputs = c;
      return true;
    } catch (const Error&) {
    }
  }
  return false;
}

}  // namespace taeda::testing
