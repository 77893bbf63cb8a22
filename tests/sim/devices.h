// The devices that the tests of sim run on.
#pragma once

#include "taeda/base/device.h"

namespace taeda::sim_tests {

inline const Device kDevice("sim:0"), kPeer("sim:1");

}  // namespace taeda::sim_tests
