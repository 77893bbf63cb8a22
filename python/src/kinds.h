// The small value types of the package: dtypes, devices, layouts, memory formats, generators.
#pragma once

#include "python.h"
#include "taeda/base/device.h"
#include "taeda/base/dtype.h"
#include "taeda/device/generator.h"
#include "taeda/tensor/layout.h"
#include "taeda/tensor/options.h"

namespace taeda::python {

// Each of these is one object for each value, so programs may compare them with `is`.

/// A new reference to torch.float32 and so on.
PyObject* from_dtype(ScalarType dtype);
PyObject* from_layout(TensorLayout layout);
PyObject* from_device(Device device);
PyObject* from_generator(const Generator& generator);

/// A torch.dtype, or Python's float, int, bool or complex, which stand for one.
bool is_dtype(PyObject* object);
bool is_layout(PyObject* object);
bool is_memory_format(PyObject* object);
/// A torch.device, a text or an index.
bool is_device(PyObject* object);
bool is_generator(PyObject* object);

ScalarType to_dtype(PyObject* object);
TensorLayout to_layout(PyObject* object);
MemoryFormat to_memory_format(PyObject* object);
Device to_device(PyObject* object);
const Generator& to_generator(PyObject* object);

/// Defines torch.Generator; add_kinds calls it.
void add_generator_type(PyObject* module);
/// Defines the types and adds them, and their values, to the extension.
void add_kinds(PyObject* module);

}  // namespace taeda::python
