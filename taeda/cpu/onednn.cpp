#include "taeda/cpu/onednn.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#if defined(TAEDA_HAS_ONEDNN)
#include <omp.h>

#include <utility>

#include "taeda/base/error.h"
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

dnnl::stream& onednn::stream() {
  static thread_local dnnl::stream stream(engine());
  return stream;
}

namespace {

/// Has oneDNN make its static objects: the cache of primitives, and tables of implementations that
/// are filled when they are first asked for.
void make_static_objects() {
  using namespace dnnl;
  using Type = memory::data_type;
  using Tag = memory::format_tag;
  get_primitive_cache_capacity();
  const memory::dims sizes{1, 8, 8, 8};
  for (const Type from : {Type::f32, Type::bf16})
    for (const Type to : {Type::f32, Type::bf16})
      reorder::primitive_desc(onednn::engine(), {sizes, from, Tag::nchw}, onednn::engine(),
                              {sizes, to, Tag::nhwc}, primitive_attr(), true);
  const memory::desc image(sizes, Type::f32, Tag::nchw), kernel({8, 8, 1, 1}, Type::f32, Tag::any);
  const memory::dims steps{1, 1}, none{0, 0};
  convolution_forward::primitive_desc({prop_kind::forward_training, algorithm::convolution_direct,
                                       image, kernel, image, steps, none, none},
                                      onednn::engine(), true);
  const memory::desc matrix({8, 8}, Type::f32, Tag::ab);
  matmul::primitive_desc({matrix, matrix, matrix}, onednn::engine(), true);
}

struct Making {
  std::mutex mutex;
  bool over = false;     ///< the process is ending
  bool watched = false;  ///< `end` is registered

  static Making& get() {
    static auto* making = new Making;
    return *making;
  }
  static void end() {
    set_onednn_enabled(false);
    const std::lock_guard lock(get().mutex);
    get().over = true;
  }
};

}  // namespace

onednn::MakingPrimitive::MakingPrimitive() : lock_(Making::get().mutex) {
  threads();
  Making& making = Making::get();
  if (!std::exchange(making.watched, true)) {
    make_static_objects();
    std::atexit(Making::end);  // which so comes before their end
  }
  TAEDA_CHECK(!making.over, "oneDNN: the process is ending");
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

#endif

}  // namespace taeda::cpu
