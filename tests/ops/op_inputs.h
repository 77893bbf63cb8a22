// What the rows of the op table are called with.
#pragma once

#include <string>
#include <vector>

#include "tests/ops/op_table.h"

namespace taeda::testing {

/// The inputs of `sample`, drawn from a sequence of the row's own: the same in every test.
Tensors make_inputs(const OpRow& row, const Sample& sample, ScalarType dtype);

/// "add on Float [2, 3] [3]", for messages.
std::string describe(const OpRow& row, const Sample& sample, ScalarType dtype);

/// The dtypes that the row is for, the most exact first.
std::vector<ScalarType> dtypes_of(const OpRow& row);

}  // namespace taeda::testing
