// Shared pointers to modules.
#pragma once

#include <memory>
#include <utility>

#include "taeda/nn/module.h"

namespace taeda::inline v0_2::nn {

/// The owner of a module that `new` made, which must not be null or owned already.
std::shared_ptr<Module> owned(Module* module);

/// Makes a module with these arguments and an owner for it, as std::make_shared does. Every class
/// of module gets the same kind of control block, `Module`'s, so a program with many of them
/// compiles in half the time. What the constructor throws goes on.
template <class M, class... Args>
std::shared_ptr<M> make_module(Args&&... args) {
  M* const module = new M(std::forward<Args>(args)...);
  return {owned(module), module};
}

}  // namespace taeda::inline v0_2::nn
