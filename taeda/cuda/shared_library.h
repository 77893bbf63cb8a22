// How this backend reaches NVIDIA's libraries: by name, when they are first needed.
#pragma once

#include "taeda/base/shared_library.h"

namespace taeda::inline v0_2::gpu {
using taeda::SharedLibrary;
}
