// The forms that are made from declarations, as the tests of all of them call them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "taeda/ops/write_out.h"

namespace taeda::testing {

using Tensors = std::vector<Tensor>;

/// An operation that has a form in place or with `out`, called on tensors alone.
struct Form {
  const char* name;  // the operation and the line of its declaration
  int inputs;
  const char* dtypes;  // as declared; empty: not stated
  detail::OutRule rule;
  bool in_dtype_of_out;  // computes in it if no dtype is given
  Tensors (*plain)(const Tensors&);
  Tensor& (*in_place)(const Tensors&);
  void (*out)(Tensors&, const Tensors&);
};

const std::vector<Form>& forms();
/// Operations with such forms whose arguments cannot be made up.
const std::set<std::string>& forms_without_row();

/// The first inputs that the operation takes, and its results.
bool find_inputs(const Form& form, Tensors& inputs, Tensors& results);

}  // namespace taeda::testing
