// Shared pointers to modules.
#pragma once

#include <memory>
#include <utility>

#include "taeda/nn/module.h"

namespace taeda::inline v0_2::nn {

/// The owner of a module that `new` made.
std::shared_ptr<Module> owned(Module* module);

/// As std::make_shared, but every class of module gets the same kind of control block, `Module`'s:
/// a program with many of them compiles in half the time.
template <class M, class... Args>
std::shared_ptr<M> make_module(Args&&... args) {
  M* const module = new M(std::forward<Args>(args)...);
  return {owned(module), module};
}

}  // namespace taeda::inline v0_2::nn
