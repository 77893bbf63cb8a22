// Nodes of the graph as Python's objects, backward passes, hooks, and functions written in Python.
#pragma once

#include "python.h"
#include "taeda/autograd/node.h"

namespace taeda::python {

/// The object of a node, the same one for as long as anybody holds it; None for no node.
PyObject* from_node(IntrusivePtr<autograd::Node> node);

/// Defines the class of nodes.
void add_nodes(PyObject* module);

/// Defines the class of nodes and the functions of the extension that torch.autograd is made of.
void add_autograd(PyObject* module);

}  // namespace taeda::python
