#include "taeda/nn/cloneable.h"

namespace taeda::nn {

namespace {
constinit thread_local bool shallow = false;
}

ShallowCloneGuard::ShallowCloneGuard() : previous_(shallow) { shallow = true; }
ShallowCloneGuard::~ShallowCloneGuard() { shallow = previous_; }
bool ShallowCloneGuard::is_active() { return shallow; }

}  // namespace taeda::nn
