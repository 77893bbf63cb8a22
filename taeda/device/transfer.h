// Moving bytes between any two devices, in stream order. Operations copy through here and nowhere
// else, because this is where pinned memory and blocks on foreign streams are accounted for.
#pragma once

#include "taeda/device/backend.h"

namespace taeda::inline v0_2 {

/// Copies `bytes` from `src` to `dst` after the work queued on both devices' current streams, and
/// before what they queue later. Host memory may be reused on return, unless it is pinned and
/// `non_blocking` is set: then the copy is only queued.
void transfer(void* dst, Device dst_device, const void* src, Device src_device, size_t bytes,
              bool non_blocking = false);
/// Zeroes `bytes`, ordered on the device's current stream.
void fill_zero(void* dst, Device device, size_t bytes);

}  // namespace taeda
