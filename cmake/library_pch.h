// Precompiled by CMake: what nearly every source of the library includes. Nothing includes this file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/tensor/tensor.h"
