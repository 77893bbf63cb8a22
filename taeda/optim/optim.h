// All of optim.
#pragma once

#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/lr_scheduler.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
