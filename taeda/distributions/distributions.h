// All distributions: `namespace D = taeda::distributions; D::Normal(0, 1).sample({3})`.
#pragma once

#include "taeda/distributions/angles.h"
#include "taeda/distributions/binary.h"
#include "taeda/distributions/categorical.h"
#include "taeda/distributions/combined.h"
#include "taeda/distributions/continuous_bernoulli.h"
#include "taeda/distributions/gamma.h"
#include "taeda/distributions/kl.h"
#include "taeda/distributions/location_scale.h"
#include "taeda/distributions/low_rank_normal.h"
#include "taeda/distributions/matrices.h"
#include "taeda/distributions/normal.h"
#include "taeda/distributions/positive.h"
#include "taeda/distributions/transforms.h"
