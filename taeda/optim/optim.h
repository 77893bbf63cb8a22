// All of optim.
#pragma once

#include "taeda/optim/adafactor.h"
#include "taeda/optim/adagrad.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/adam_family.h"
#include "taeda/optim/adaptive.h"
#include "taeda/optim/averaging.h"
#include "taeda/optim/composed.h"
#include "taeda/optim/lbfgs.h"
#include "taeda/optim/lion.h"
#include "taeda/optim/lr_cycles.h"
#include "taeda/optim/lr_scheduler.h"
#include "taeda/optim/muon.h"
#include "taeda/optim/rmsprop.h"
#include "taeda/optim/sgd.h"
#include "taeda/optim/sparse_adam.h"
