// Training on a machine that is not alone.
#pragma once

#include <string>
#include <vector>

namespace taeda::tool {

/// Where this run's threads and what computes already are more than the cores, threads that wait
/// for one another shall sleep: OpenMP's spin until their turn is over, and a step of 5 ms takes
/// 400. OpenMP reads OMP_WAIT_POLICY before main() begins, so the program starts once more with it.
/// Does nothing where that or GOMP_SPINCOUNT is set, and for other commands than `train`.
void wait_as_the_machine_allows(char** argv, const std::vector<std::string>& words);

}  // namespace taeda::tool
