// Note [Convolutions by cuDNN]
// A convolution is a graph of one operation. The library lists kernels for it, best first, as it
// guesses; the first that gives equal bits in every run is built into a plan, which is kept, so
// that later calls of the same sizes only queue it: describing and building cost the host 100 us
// and more. Under backends::cudnn::benchmark the first ten are built and timed on the operands.
#include "taeda/cuda/cudnn_conv.h"

#include "taeda/cuda/cudnn_library.h"

#if __has_include(<cudnn.h>)
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "taeda/device/graph.h"
#include "taeda/kernels/memory_order.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cudnn.h>)

namespace {

using Kind = Graph::Convolution::Kind;
using Sizes = Graph::Sizes;

constexpr int64_t kMaxWorkspace = int64_t{1} << 30, kTimingWorkspace = int64_t{1} << 28;
constexpr size_t kMostTimed = 10, kMostPlans = 4096;
constexpr Graph::Id kIn = 1, kWeight = 2, kOut = 3;

/// Everything that a plan depends on.
using Key = std::vector<int64_t>;

/// A convolution in the library's words, with at least two spatial dimensions.
struct Problem {
  struct Described {
    Sizes sizes, strides;
    void* data;
    int64_t alignment;
  };

  Problem(Kind kind, const Tensor& x, const Tensor& y, const Tensor& w, const ConvGeometry& g)
      : extra(g.ndim < 2 ? 2 - g.ndim : 0), dtype(x.dtype()) {
    for (const Tensor* t : {&x, &y, &w}) last = last || is_channels_last_only(*t);
    const auto type_found = cudnn_type(dtype);
    ok = type_found && fits(x, y, w, g);
    if (!ok) return;
    type = *type_found;
    in = described(x);
    out = described(y);
    weight = described(w);
    how.kind = kind;
    how.in = kIn;
    how.weight = kWeight;
    how.out = kOut;
    how.computed = dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    how.padding.assign(extra, 0);
    how.stride.assign(extra, 1);
    how.dilation.assign(extra, 1);
    for (int d = 0; d < g.ndim; ++d) {
      how.padding.push_back(g.padding[d]);
      how.stride.push_back(g.stride[d]);
      how.dilation.push_back(g.dilation[d]);
    }
  }

  Key key(const Context& context, GraphWishes wishes, bool timed) const {
    Key key{context.device,
            static_cast<int64_t>(how.kind),
            static_cast<int64_t>(dtype),
            last,
            wishes.any_order,
            wishes.tensor_cores,
            timed};
    for (const Described* t : {&in, &weight, &out}) {
      key.insert(key.end(), t->sizes.begin(), t->sizes.end());
      key.push_back(t->alignment);
    }
    for (const auto* numbers : {&how.padding, &how.stride, &how.dilation})
      key.insert(key.end(), numbers->begin(), numbers->end());
    return key;
  }
  void describe(Graph& graph) const {
    graph.memory(kIn, type, in.sizes, in.strides, in.alignment);
    graph.memory(kWeight, type, weight.sizes, weight.strides, weight.alignment);
    graph.memory(kOut, type, out.sizes, out.strides, out.alignment);
    graph.convolution(how);
  }
  std::map<Graph::Id, void*> data() const {
    return {{kIn, in.data}, {kWeight, weight.data}, {kOut, out.data}};
  }

  size_t extra;  ///< dimensions of size 1 in front of the spatial ones
  ScalarType dtype;
  bool last = false;  ///< channels-last
  bool ok = false;
  cudnnDataType_t type{};
  Described in, weight, out;
  Graph::Convolution how;

 private:
  /// Operands of one memory order, whose sizes the library derives as we do, and can count.
  bool fits(const Tensor& x, const Tensor& y, const Tensor& w, const ConvGeometry& g) const {
    const auto order = last ? channels_last_of(x.dim()) : MemoryFormat::Contiguous;
    for (const Tensor* t : {&x, &y, &w})
      if (!t->is_contiguous(order) || t->numel() == 0 ||
          t->numel() > std::numeric_limits<int32_t>::max())
        return false;
    for (int d = 0; d < g.ndim; ++d) {
      const int64_t reach = g.dilation[d] * (w.size(d + 2) - 1) + 1;
      const int64_t room = x.size(d + 2) + 2 * g.padding[d] - reach;
      if (room < 0 || room / g.stride[d] + 1 != y.size(d + 2)) return false;
    }
    return true;
  }
  Described described(const Tensor& t) const {
    Described out{{t.size(0), t.size(1)}, {}, t.data_ptr(), 16};
    out.sizes.insert(out.sizes.end(), extra, 1);
    for (int64_t d = 2; d < t.dim(); ++d) out.sizes.push_back(t.size(d));
    out.strides.assign(out.sizes.size(), 1);
    const Sizes& n = out.sizes;
    int64_t step = 1;
    const auto pass = [&](size_t d) { out.strides[d] = step, step *= n[d]; };
    if (last) pass(1);
    for (size_t d = n.size(); d-- > 2;) pass(d);
    if (!last) pass(1);
    pass(0);
    while (reinterpret_cast<uintptr_t>(out.data) % static_cast<uintptr_t>(out.alignment) != 0)
      out.alignment /= 2;
    return out;
  }
};

/// A built graph, used by one thread at a time.
struct ConvPlan {
  explicit ConvPlan(const GraphFunctions& f) : graph(f) {}
  std::mutex mutex;
  Graph graph;
  bool built = false;
  bool captured = false;  ///< a captured graph may replay its kernels
};

/// Milliseconds that a run takes.
float time_of(ConvPlan& plan, const Context& context, cudnnHandle_t handle, const Problem& p,
              void* workspace) {
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreateWithFlags(&begin, cudaEventDefault), "making an event");
  check(cudaEventCreateWithFlags(&end, cudaEventDefault), "making an event");
  float best = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 3; ++i) {
    cudaEventRecord(begin, context.stream);
    const bool ran = plan.graph.run(handle, p.data(), workspace);
    cudaEventRecord(end, context.stream);
    float ms = 0;
    if (!ran || cudaEventSynchronize(end) != cudaSuccess ||
        cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
      break;
    if (i > 0) best = std::min(best, ms);  // the first loads the kernel
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

void build(ConvPlan& plan, const Context& context, cudnnHandle_t handle, Device device,
           const Problem& p, GraphWishes wishes, bool timed) {
  const GraphTarget target{.handle = handle, .properties = nullptr};
  p.describe(plan.graph);
  if (!timed) {
    plan.built = plan.graph.build(target, kMaxWorkspace, nullptr, wishes) == CUDNN_STATUS_SUCCESS;
    return;
  }
  const size_t count = plan.graph.build_some(target, kTimingWorkspace, kMostTimed, wishes);
  const Scratch workspace(device, kTimingWorkspace);
  size_t fastest = 0;
  float best = std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < count; ++i) {
    plan.graph.choose(i);
    const float ms = time_of(plan, context, handle, p, workspace.as<void>());
    if (ms < best) best = ms, fastest = i;
  }
  plan.graph.choose(fastest);
  plan.built = best < std::numeric_limits<float>::infinity();
}

/// The plan of a problem, which may be one that could not be built. When there are many, those go
/// that no captured graph needs.
std::shared_ptr<ConvPlan> plan_for(const Context& context, cudnnHandle_t handle, Device device,
                                   const Problem& p) {
  static std::mutex mutex;
  // Not destroyed: when the process ends there is no driver to free them.
  static auto& plans = *new std::map<Key, std::shared_ptr<ConvPlan>>;
  const bool capturing = is_current_stream_capturing(device);
  // What runs during a capture cannot be timed.
  const bool timed = backends::cudnn::benchmark && !capturing;
  const GraphWishes wishes{.any_order = timed && !backends::cudnn::deterministic,
                           .tensor_cores = p.dtype != kFloat || backends::cudnn::allow_tf32};
  const std::lock_guard lock(mutex);
  Key key = p.key(context, wishes, timed);
  const auto known = plans.find(key);
  if (known != plans.end()) {
    known->second->captured |= capturing;
    return known->second;
  }
  if (plans.size() >= kMostPlans)
    std::erase_if(plans, [](const auto& entry) { return !entry.second->captured; });
  auto plan = std::make_shared<ConvPlan>(*cudnn_graphs());
  build(*plan, context, handle, device, p, wishes, timed);
  plan->captured = capturing;
  plans.emplace(std::move(key), plan);
  return plan;
}

bool convolve(Kind kind, const Context& context, const Tensor& in, const Tensor& out,
              const Tensor& weight, const ConvGeometry& geometry) {
  if (!cudnn_graphs()) return false;
  const Problem p(kind, in, out, weight, geometry);
  if (!p.ok) return false;
  const CudnnHandle handle(context);
  if (!handle.get()) return false;
  const auto plan = plan_for(context, handle.get(), in.device(), p);
  if (!plan->built) return false;
  const std::lock_guard lock(plan->mutex);
  const Scratch workspace(in.device(), plan->graph.workspace());
  return plan->graph.run(handle.get(), p.data(), workspace.as<void>());
}

}  // namespace

bool cudnn_conv(const Context& context, const Tensor& out, const Tensor& in, const Tensor& weight,
                const ConvGeometry& geometry) {
  return convolve(Kind::Forward, context, in, out, weight, geometry);
}

bool cudnn_conv_input_grad(const Context& context, const Tensor& grad_in, const Tensor& grad_out,
                           const Tensor& weight, const ConvGeometry& geometry) {
  return convolve(Kind::InputGrad, context, grad_in, grad_out, weight, geometry);
}

bool cudnn_conv_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                            const Tensor& grad_out, const ConvGeometry& geometry) {
  return convolve(Kind::WeightGrad, context, in, grad_out, grad_weight, geometry);
}

#else

bool cudnn_conv(const Context&, const Tensor&, const Tensor&, const Tensor&, const ConvGeometry&) {
  return false;
}
bool cudnn_conv_input_grad(const Context&, const Tensor&, const Tensor&, const Tensor&,
                           const ConvGeometry&) {
  return false;
}
bool cudnn_conv_weight_grad(const Context&, const Tensor&, const Tensor&, const Tensor&,
                            const ConvGeometry&) {
  return false;
}

#endif

}  // namespace taeda::inline v0_2::gpu
