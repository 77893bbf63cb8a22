// Second names that PyTorch gives to operations: the tag `also` of a declaration.
#pragma once

#include "taeda/generated/ops/names.h"  // IWYU pragma: export
