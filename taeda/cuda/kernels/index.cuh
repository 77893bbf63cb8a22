// Writes whose places come from data: where several meet, the last one wins, or all of them count
// in their order, whatever the device.
#pragma once

#include "taeda/cuda/kernels/sorted.cuh"
#include "taeda/kernels/index.h"

namespace taeda::inline v0_2::gpu {

/// How many bits the places below `extent` need, and above them KeyArray::largest(): the key of an
/// entry that is written nowhere, because its index is out of range. It sorts behind all places.
inline int place_bits(int64_t extent) { return bits_below(extent) + 1; }

/// Entries sorted by their place; each is a block of `width` elements. Entry e takes block e of the
/// values.
struct MeetingWrites {
  KeyArray places;          // sorted: offsets in elements
  const uint32_t* entries;  // which entry stands there
  bool carried = false;     // or the entry's only element itself, of at most four bytes
  int64_t n;                // entries
  Divider width;            // elements of a block
  Offsets<2> block;         // of an element of the block: in the target and in the values
  Offsets<1> entry;         // of an entry in the values
  char* to;
  const char* values;
  ScalarType dtype;
  Meeting how = Meeting::Sum;  // not Last

  __device__ bool is_nowhere(uint64_t place) const { return place == places.largest(); }
};

/// Runs of equal places become one write each.
void write_last(const Context& context, const MeetingWrites& w);
void add_up(const char* op, const Context& context, Device device, const MeetingWrites& w);

}  // namespace taeda::inline v0_2::gpu
