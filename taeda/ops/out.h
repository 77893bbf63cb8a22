// Results written to tensors that exist, `add_out(out, a, b)`: the tag `out` of a declaration.
#pragma once

#include "taeda/generated/ops/out.h"  // IWYU pragma: export
