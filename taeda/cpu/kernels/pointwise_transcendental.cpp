#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/transcendental.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_transcendental() { register_pointwise<TranscendentalOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
