// The CPU backend's table of contents: which functions fill its slots.
#include "taeda/cpu/capability.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/registration.h"

namespace taeda::inline v0_2 {

// Families of taeda/cpu/kernels. Each is compiled once per instruction set.
#define TAEDA_CPU_FAMILIES(entry)                                                                 \
  entry(attention) entry(conv) entry(copy) entry(create) entry(fft) entry(grid_sample)            \
      entry(index) entry(join) entry(loss) entry(matmul) entry(norm_batch) entry(norm_rows)       \
          entry(optim) entry(pointwise_activation) entry(pointwise_arithmetic)                    \
              entry(pointwise_compare) entry(pointwise_complex) entry(pointwise_loss)             \
                  entry(pointwise_special) entry(pointwise_special_functions)                     \
                      entry(pointwise_transcendental) entry(pointwise_unary) entry(pool)          \
                          entry(random) entry(reduce) entry(reduce_index) entry(reduce_norm)      \
                              entry(resample) entry(rnn) entry(scan) entry(select) entry(softmax) \
                                  entry(sort)

#define TAEDA_DECLARE(family) void register_##family();
#define TAEDA_CALL(family) register_##family();

#ifdef TAEDA_HAS_BASELINE
namespace cpu::baseline {
TAEDA_CPU_FAMILIES(TAEDA_DECLARE)
static void register_all() { TAEDA_CPU_FAMILIES(TAEDA_CALL) }
}  // namespace cpu::baseline
#endif
#ifdef TAEDA_HAS_AVX2
namespace cpu::avx2 {
TAEDA_CPU_FAMILIES(TAEDA_DECLARE)
static void register_all() { TAEDA_CPU_FAMILIES(TAEDA_CALL) }
}  // namespace cpu::avx2
#endif
#ifdef TAEDA_HAS_AVX512
namespace cpu::avx512 {
TAEDA_CPU_FAMILIES(TAEDA_DECLARE)
static void register_all() { TAEDA_CPU_FAMILIES(TAEDA_CALL) }
}  // namespace cpu::avx512
#endif

// Kernels that only call a library, compiled once.
namespace cpu {
void register_linalg();
}  // namespace cpu

void register_cpu_kernels() {
  cpu::register_linalg();
  set_converts_operands(kCPU);
  switch (cpu::cpu_capability()) {
#ifdef TAEDA_HAS_AVX512
    case cpu::Capability::Avx512: cpu::avx512::register_all(); break;
#endif
#ifdef TAEDA_HAS_AVX2
    case cpu::Capability::Avx2: cpu::avx2::register_all(); break;
#endif
#ifdef TAEDA_HAS_BASELINE
    case cpu::Capability::Baseline: cpu::baseline::register_all(); break;
#endif
    default: break;  // cpu_capability() has thrown
  }
}

}  // namespace taeda::inline v0_2
