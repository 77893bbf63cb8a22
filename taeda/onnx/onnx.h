// ONNX: models written for other runtimes, and models of other frameworks read and run. Include it
// by itself; `taeda.h` leaves it out.
#pragma once

#include "taeda/onnx/export.h"
#include "taeda/onnx/import.h"
