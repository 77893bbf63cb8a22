// All forms with `out` that libtorch has: `_out` of every operation, `_outf` with `out` last. Not
// part of taeda.h, whose programs would take longer to compile.
#pragma once

#include "taeda/generated/ops/out_forms.h"  // IWYU pragma: export
