// Namespaces `torch`, `at` and `c10`: the last header, because names are there once all are
// declared. They and those within `torch` are namespaces of their own, which programs may reopen.
#pragma once

#include <taeda/generated/compat/namespaces.h>
#include <taeda_compat/namespaces.h>

namespace c10 {
using namespace taeda_names;
using taeda::complex;
}  // namespace c10

namespace at {
using namespace c10;
using taeda_compat::complex;
}  // namespace at

namespace torch {
using namespace at;
using taeda_compat::complex;
}  // namespace torch
