// What tells one job's processes from another's.
#pragma once

#include <string>

namespace taeda::inline v0_2::distributed {

/// The name that launchers give to all processes of a job, and to no other job's: the first that is
/// set of TAEDA_DISTRIBUTED_JOB_ID, TORCHELASTIC_RUN_ID (torchrun), PMIX_NAMESPACE (Open MPI) and
/// SLURM_JOB_ID with SLURM_STEP_ID. Empty where none is.
std::string job_name();

}  // namespace taeda::distributed
