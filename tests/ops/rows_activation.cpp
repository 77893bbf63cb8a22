#include "tests/ops/op_table.h"

namespace taeda::testing {

std::vector<OpRow> activation_rows() { return {}; }

}  // namespace taeda::testing
