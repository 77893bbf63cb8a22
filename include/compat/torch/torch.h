// Programs written for libtorch's C++ frontend compile against this header unchanged: namespace
// `torch` (and `at`, `c10`) opens onto namespace `taeda`. Every other header of libtorch's names
// leads here (cmake/TaedaCompat.cmake).
#pragma once

// StepLR then is libtorch's, which decays later than Python's.
#if !defined(TAEDA_LIBTORCH_RULES)
#define TAEDA_LIBTORCH_RULES 1
#endif

#include <taeda_compat/dispatch.h>
#include <taeda_compat/enums.h>
#include <taeda_compat/functions.h>
#include <taeda_compat/library.h>
#include <taeda_compat/namespaces.h>
#include <taeda_compat/operations.h>
#include <taeda_compat/text.h>
#include <taeda_compat/types.h>
