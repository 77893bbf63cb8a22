// Names and texts of modules as libtorch's C++ has them: for programs that are written for it.
#pragma once

#include <iosfwd>
#include <string>

#include "taeda/nn/module.h"

namespace taeda::inline v0_2::nn::detail {

/// While on, Module::name() is the full name of the class ("torch::nn::LinearImpl", "NetImpl") and
/// Module::repr() and `<<` give libtorch's text. For the whole process; torch/torch.h turns it on.
void use_libtorch_style(bool on) noexcept;
bool uses_libtorch_style() noexcept;

/// What messages call a module in either style: its own name, or the class's without namespace.
std::string short_name(const Module& module);
/// The name of `module`'s class in that style.
std::string libtorch_class_name(const Module& module);
/// "torch::nn::Linear(in_features=3, out_features=4, bias=true)": a module's own line.
void print_libtorch_line(std::ostream& out, const Module& module);
/// The lines of the tree, each module's by Module::pretty_print.
void print_libtorch_tree(std::ostream& out, const Module& module);

}  // namespace taeda::inline v0_2::nn::detail
