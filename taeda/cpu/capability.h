// Which build of the CPU kernels runs: the instruction sets that this machine has.
#pragma once

#include "taeda/base/array_ref.h"

namespace taeda::inline v0_2::cpu {

/// Levels that the kernels are compiled for. Avx2 is x86-64-v3 (AVX2, FMA, BMI2, F16C); Avx512 is
/// x86-64-v4 (AVX-512 F, BW, CD, DQ, VL).
enum class Capability { Baseline, Avx2, Avx512 };

/// "baseline", "avx2" or "avx512".
const char* name(Capability level);

/// The best level that this processor runs, whatever the library was built for.
Capability machine_capability();

/// The levels that a library was built for, lowest first: the baseline and others above it, or, if
/// it was built for the machine at hand alone, a single one.
using CapabilityList = ArrayRef<Capability>;
CapabilityList built_capabilities();

/// The best level of `built` that a machine of level `machine` runs. Throws NotImplementedError if
/// there is none.
Capability best_capability(CapabilityList built, Capability machine);

/// The level whose kernels are used: the best, or a lower one named by the environment variable
/// TAEDA_CPU_CAPABILITY. Decided once per process. Throws ValueError for an unknown name, for a
/// level above the best and for one that the library was not built for, NotImplementedError if this
/// processor runs none of the library's kernels.
Capability cpu_capability();

/// The rule behind `cpu_capability`: `requested` may be null or empty.
Capability choose_capability(const char* requested, CapabilityList built, Capability machine);

}  // namespace taeda::inline v0_2::cpu
