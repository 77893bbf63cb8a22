// libtorch header of this name; see torch/torch.h.
#pragma once

#include <torch/torch.h>
