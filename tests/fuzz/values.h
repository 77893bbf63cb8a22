// What has arrived of a remote call.
#pragma once

#include "taeda/rpc/codec.h"

namespace taeda::fuzz {

/// Reads a message as values of several types; the library's errors are a good answer.
void read_values(const distributed::rpc::Packet& packet);

}  // namespace taeda::fuzz
