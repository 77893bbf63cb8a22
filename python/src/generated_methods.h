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

struct Callable;

/// A name of one of those tables, and what it can be called with.
struct Listed {
  const char* table;
  const char* name;
  bool method;
  const Callable* callable;
};

/// All names of all tables.
std::vector<Listed> generated_callables();

}  // namespace taeda::python
