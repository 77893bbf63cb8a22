// What nearly every source includes; precompiled.
#pragma once

#include "arguments.h"
#include "taeda/taeda.h"
