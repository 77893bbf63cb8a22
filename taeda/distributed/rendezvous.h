// How the processes of a job find each other; a job that is not complete in time is an Error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

struct Rendezvous {
  StorePtr store;
  int64_t rank = -1, world_size = -1;
};

/// A store that all processes of the job share, and which of them this one is. `init_method` is
///
///   env://             MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, or what Open MPI's mpirun
///                      and Slurm's srun set (environment.h); also meant by "". Where `taeda
///                      launch` or spawn() serves a store there, it is that one.
///   tcp://host:port    rank 0 serves a TCPStore there
///   file:///path       a FileStore, on a file system that all processes see
///
/// `rank` and `world_size` of -1 are taken from the environment, or from the end of the other two:
/// ?rank=1&world_size=4. A world of one process gets a HashStore and needs no network. Throws
/// ValueError in PyTorch's words for what is missing or wrong, naming the variable and its value.
Rendezvous rendezvous(const std::string& init_method, int64_t rank = -1, int64_t world_size = -1,
                      std::chrono::milliseconds timeout = kDefaultTimeout);

}  // namespace taeda::distributed
