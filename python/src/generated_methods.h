// What tools/ops makes for Python from the declarations of operations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "python.h"

namespace taeda::python {

/// Python's tables of methods by where they belong: "" for the functions of torch itself, "linalg"
/// and so on for others, "Tensor" for the methods.
using MethodTables = std::map<std::string, std::vector<PyMethodDef>>;

/// All operations.
MethodTables generated_methods();

}  // namespace taeda::python
