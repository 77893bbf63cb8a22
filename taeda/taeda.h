// All of Taeda's public interface. A header that is included here only declares; nothing is added in
// this file. tests/structure limits how many files it pulls in.
#pragma once

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/allocator.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/shape.h"
#include "taeda/tensor/print.h"
#include "taeda/tensor/tensor.h"
