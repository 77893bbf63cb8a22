#include "taeda/cpu/onednn.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string_view>

#if defined(TAEDA_HAS_ONEDNN)
#include <omp.h>
#include <signal.h>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/onednn_cache.h"
#endif

namespace taeda::inline v0_2::cpu {

namespace {

bool initially_enabled() {
#if defined(TAEDA_HAS_ONEDNN)
  const char* text = std::getenv("TAEDA_ONEDNN");
  return !text || std::string_view(text) != "0";
#else
  return false;
#endif
}

std::atomic<bool>& switch_() {
  static std::atomic<bool> on{initially_enabled()};
  return on;
}

}  // namespace

bool onednn_enabled() { return switch_().load(std::memory_order_relaxed); }

void set_onednn_enabled(bool on) {
#if defined(TAEDA_HAS_ONEDNN)
  switch_() = on;
#else
  (void)on;
#endif
}

#if defined(TAEDA_HAS_ONEDNN)

const dnnl::engine& onednn::engine() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

namespace {

// Note [Signals and borrowed stacks]
// Where a product has few rows, oneDNN's AVX-512 code lets the stack pointer point into a buffer of
// the heap while it computes. What handles a signal then would be given the memory below, which is
// others'. So a thread that has oneDNN compute gets a stack for handlers, unless it has one. A
// handler runs there that was installed with SA_ONSTACK, as this library's and Python's are.
// OpenMP's threads get no signals at all: they hold them in the first loop that they share, or from
// their start where that is in oneDNN, whose caller holds them meanwhile.
class SignalStack {
 public:
  SignalStack() {
    stack_t now;
    if (::sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    memory_ = std::make_unique<char[]>(kBytes);
    stack_t own = {};
    own.ss_sp = memory_.get();
    own.ss_size = kBytes;
    if (::sigaltstack(&own, nullptr) != 0) memory_.reset();
  }
  ~SignalStack() {
    stack_t now;
    if (!memory_ || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_.get()) return;
    now.ss_flags = SS_DISABLE;
    ::sigaltstack(&now, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t kBytes = 1 << 16;  // the registers alone take some thousand
  std::unique_ptr<char[]> memory_;
};

}  // namespace

dnnl::stream& onednn::stream() {
  struct Own {
    SignalStack signals;
    dnnl::stream stream{engine()};
  };
  static thread_local Own own;
  return own.stream;
}

int onednn::threads() {
  if (in_parallel_region()) return 1;
  // OpenMP keeps a number for each thread; the one that was set is the process's.
  const int n = get_num_threads();
  if (omp_get_max_threads() != n) omp_set_num_threads(n);
  return n;
}

dnnl::memory::data_type onednn::data_type(ScalarType t) {
  return t == kBFloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

bool onednn::takes(ScalarType t) {
  static const bool bf16 = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16;
  return t == kFloat || (t == kBFloat16 && bf16);
}

bool onednn::multiplies(ScalarType t) { return onednn_enabled() && takes(t); }

#else

bool onednn::multiplies(ScalarType) { return false; }

#endif

}  // namespace taeda::inline v0_2::cpu
