// What tests ask of the library that takes NCCL's place.
#pragma once

#include <cstdint>

extern "C" {
/// What has happened since the last call: groups of calls that were queued, communicators that were
/// made and aborted, operators that exist.
struct NcclCounts {
  int64_t groups, made, aborted, operators;
};
NcclCounts taeda_nccl_counts();
/// The next call of `function` by any rank fails with ncclInternalError.
void taeda_nccl_fail_next(const char* function);
/// From now on the communicators that rank `rank` has say that a remote process is gone; -1: none.
void taeda_nccl_lose(int rank);
}
