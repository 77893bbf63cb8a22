// Names and texts of modules of libtorch's dialect (nn/module.h).
#pragma once

#include <iosfwd>
#include <string>

#include "taeda/nn/module.h"

namespace taeda::inline v0_2::nn::detail {

/// What messages call a module in either dialect: its own name, or the class's without namespace.
std::string short_name(const Module& module);
/// The full name of `module`'s class: "torch::nn::LinearImpl", "NetImpl".
std::string libtorch_class_name(const Module& module);
/// "torch::nn::Linear(in_features=3, out_features=4, bias=true)": a module's own line.
void print_libtorch_line(std::ostream& out, const Module& module);
/// The lines of the tree, each module's by Module::pretty_print.
void print_libtorch_tree(std::ostream& out, const Module& module);

}  // namespace taeda::inline v0_2::nn::detail
