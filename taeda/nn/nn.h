// All of nn.
#pragma once

#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/loss.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/nn/modules/pooling.h"
#include "taeda/nn/modules/rnn.h"
#include "taeda/nn/modules/transformer.h"
#include "taeda/nn/parallel/data_parallel.h"
#include "taeda/nn/utils.h"
