#include "taeda/distributed/job.h"

#include <cstdlib>

namespace taeda::inline v0_2::distributed {

std::string job_name() {
  for (const char* name : {"TAEDA_DISTRIBUTED_JOB_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE"})
    if (const char* text = std::getenv(name); text && *text) return text;
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* step = std::getenv("SLURM_STEP_ID");
  if (!job || !*job) return {};
  return std::string("slurm ") + job + (step && *step ? std::string(".") + step : "");
}

}  // namespace taeda::distributed
