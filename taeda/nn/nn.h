// All of nn.
#pragma once

#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/functional/linear.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/init.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/utils.h"
