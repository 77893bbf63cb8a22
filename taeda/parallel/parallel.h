// What programs use of parallel: one module on several devices of a process.
#pragma once

#include "taeda/parallel/data_parallel.h"
#include "taeda/parallel/pipe/balance.h"
#include "taeda/parallel/pipe/pipe.h"
#include "taeda/parallel/pipe/skip.h"
