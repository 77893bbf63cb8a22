// Which build of the CPU kernels runs: the instruction sets that this machine has.
#pragma once

namespace taeda::inline v0_2::cpu {

/// Levels that the kernels are compiled for. Avx2 is x86-64-v3 (AVX2, FMA, BMI2, F16C); Avx512 is
/// x86-64-v4 (AVX-512 F, BW, CD, DQ, VL).
enum class Capability { Baseline, Avx2, Avx512 };

/// "baseline", "avx2" or "avx512".
const char* name(Capability level);

/// The best level that this machine runs and this library was built for.
Capability best_capability();

/// The level whose kernels are used: `best_capability()`, or a lower one named by the environment
/// variable TAEDA_CPU_CAPABILITY. Decided once per process. Throws ValueError for an unknown name
/// and for a level above the best.
Capability cpu_capability();

/// The rule behind `cpu_capability`: `requested` may be null or empty.
Capability choose_capability(const char* requested, Capability best);

}  // namespace taeda::cpu
