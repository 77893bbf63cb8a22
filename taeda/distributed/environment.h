// What launchers tell a process about its job: torchrun's variables, or Open MPI's or Slurm's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace taeda::inline v0_2::distributed {

/// RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID. Throws ValueError if there is none, or it is no
/// number.
int64_t rank_from_environment();

/// The number of processes from WORLD_SIZE, OMPI_COMM_WORLD_SIZE or SLURM_NTASKS; a text that is no
/// number is an Error.
int64_t world_size_from_environment();

/// MASTER_ADDR. Where mpirun or srun started all ranks on this machine it is 127.0.0.1, and for
/// srun else the first host of SLURM_STEP_NODELIST.
std::string master_address_from_environment();

/// The port from MASTER_PORT, by default, for mpirun and srun, one that follows from the job's
/// name.
uint16_t master_port_from_environment();

/// This process's number among those of its machine, by which programs choose a device: LOCAL_RANK,
/// OMPI_COMM_WORLD_LOCAL_RANK or SLURM_LOCALID. Without any `fallback_rank`; throws Error if there
/// is none, either.
int get_node_local_rank(std::optional<int> fallback_rank = {});

/// The first host of a list as Slurm writes it: "gpu[03-07,9],login" is gpu03.
std::string first_host(const std::string& node_list);

}  // namespace taeda::distributed
