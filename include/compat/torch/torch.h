// Programs written for libtorch's C++ frontend compile against this header unchanged: namespaces
// `torch`, `at` and `c10` hold the names of namespace `taeda`. Every other header of libtorch's
// names leads here (cmake/TaedaCompat.cmake).
#pragma once

#include <taeda/base/macros.h>  // first: it says what the others need

// What programs find with libtorch's headers without naming it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <taeda/generated/compat/out_forms.h>
#include <taeda/ops/out_forms.h>
#include <taeda_compat/context.h>
#include <taeda_compat/data.h>
#include <taeda_compat/dispatch.h>
#include <taeda_compat/dlpack.h>
#include <taeda_compat/enums.h>
#include <taeda_compat/functional.h>
#include <taeda_compat/functions.h>
#include <taeda_compat/indexing.h>
#include <taeda_compat/layers.h>
#include <taeda_compat/library.h>
#include <taeda_compat/loader_parts.h>
#include <taeda_compat/losses.h>
#include <taeda_compat/modules.h>
#include <taeda_compat/namespaces.h>
#include <taeda_compat/operations.h>
#include <taeda_compat/optim.h>
#include <taeda_compat/parallel.h>
#include <taeda_compat/recurrent.h>
#include <taeda_compat/shapes.h>
#include <taeda_compat/tempfile.h>
#include <taeda_compat/tensors.h>
#include <taeda_compat/text.h>
#include <taeda_compat/types.h>

#include <taeda_compat/roots.h>  // the last one
