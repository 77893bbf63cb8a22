// Note [Attention by cuDNN]
// The library takes 16-bit floats, heads of multiples of 8, any strides of 16 bytes. It is not
// given masks, because a row that looks nowhere would be its own affair, nor dropout, whose
// decisions are the same on every device. Both sides compute the same log_sum, so a gradient need
// not come from where its output did.
//
// A plan is made for sizes and strides. Its kernel is translated, which takes a second; forward,
// once for all sizes, backward for each. Therefore the latter has plans for kMostBackwardPlans
// kinds of calls at most, and short sequences stay with the own kernels: the queries of a text that
// grows by a word each time would want new plans all the time.
//
// Gradients have equal bits in every run by default. The library's graph for that keeps the
// gradient of all scores (2 B H L S bytes) and is known on Hopper, for heads that are not shared;
// the faster one, which adds in any order, is used where convolutions would do so:
// backends::cudnn::benchmark without deterministic.
#include "taeda/cuda/cudnn_attention.h"

#include "taeda/cuda/cudnn_library.h"

#if __has_include(<cudnn.h>)
#include <limits>
#include <memory>
#include <optional>

#include "taeda/cuda/cudnn_attention_graph.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cudnn.h>)

namespace {

using namespace attention_ids;

constexpr int64_t kMostAttentionWorkspace = int64_t{1} << 30;
constexpr int64_t kLeastRows = 128;  // of queries and of keys
constexpr size_t kMostPlans = 1024, kMostBackwardPlans = 64;
// Before, the library has errors that it does not tell of: in all of 9.10.0 and 9.10.1; in
// gradients for numbers of keys that are no multiple of 128 up to 9.15.
constexpr size_t kOldestForward = 91002, kOldestBackward = 91600;

/// The major compute capability: 9 is Hopper, 10 Blackwell of data centres. Only for these has the
/// library kernels of their own; on others they are of the kind of ours.
int capability_of(int device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "reading the device's properties");
  return major;
}

/// What the library has kernels for, apart from the mask and the device.
bool takes(const Tensor& t, ScalarType dtype) {
  if (t.dtype() != dtype || t.size(3) % 8 != 0 || t.strides()[3] != 1 ||
      reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 != 0)
    return false;
  int64_t reach = t.size(3);
  for (size_t d = 0; d < 3; ++d) {
    const int64_t size = t.sizes()[d], stride = t.strides()[d];
    if (size > 1 && (stride <= 0 || stride % 8 != 0)) return false;
    reach += (size - 1) * stride;
  }
  return reach <= INT32_MAX;
}

AttentionLayout::Matrices matrices_of(const Tensor& t) {
  AttentionLayout::Matrices m;
  for (size_t d = 4; d-- > 0;) {
    m.sizes[d] = t.sizes()[d];
    // Whatever the stride of a single element is said to be, it counts for the library.
    m.strides[d] = m.sizes[d] > 1 || d == 3 ? t.strides()[d] : m.strides[d + 1] * m.sizes[d + 1];
  }
  return m;
}

bool may_be_asked(const Context& context, const Tensor& query, const Tensor& key,
                  const Tensor& mask, const AttentionSpec& spec, size_t oldest) {
  if (mask.defined() || spec.dropout > 0 || !is_reduced_floating(query.dtype()) ||
      query.size(2) < kLeastRows || key.size(2) < kLeastRows)
    return false;
  if (!backends::cuda::cudnn_sdp_enabled() || !cudnn_graphs() || cudnn_graphs()->version() < oldest)
    return false;
  const int capability = capability_of(context.device);
  return capability == 9 || capability == 10;
}

enum class Kind { Forward, OrderedBackward, AnyOrderBackward };

/// A built graph, used by one thread at a time.
struct AttentionPlan {
  std::mutex mutex;
  Graph graph{*cudnn_graphs()};
  bool built = false;

  AttentionPlan(Kind kind, const AttentionLayout& a) {
    if (kind == Kind::Forward)
      describe_attention(graph, a);
    else
      describe_attention_backward(graph, a, kind == Kind::AnyOrderBackward);
  }
};

using AttentionKey = std::vector<int64_t>;

/// The plans of a device for calls of one kind, which may differ in sizes.
struct AttentionPlans {
  std::optional<GraphObject> kernels;
  std::map<AttentionKey, std::unique_ptr<AttentionPlan>> known;

  AttentionPlan* make(cudnnHandle_t handle, Kind kind, const AttentionLayout& a, AttentionKey key) {
    const bool forward = kind == Kind::Forward;
    if (known.size() >= (forward ? kMostPlans : kMostBackwardPlans)) return nullptr;
    const auto build = [&](std::optional<GraphObject>* shared) {
      auto plan = std::make_unique<AttentionPlan>(kind, a);
      plan->built = plan->graph.build({.handle = handle, .properties = nullptr},
                                      kMostAttentionWorkspace, shared) == CUDNN_STATUS_SUCCESS;
      return plan;
    };
    auto plan = build(forward ? &kernels : nullptr);
    if (forward && !plan->built) plan = build(nullptr);  // not for all sizes, but for these
    return (known[std::move(key)] = std::move(plan)).get();
  }
};

/// What tells calls apart that can share kernels.
AttentionKey topic_of(int device, Kind kind, const AttentionLayout& a) {
  return {device,           static_cast<int64_t>(kind), static_cast<int64_t>(a.type),     a.causal,
          a.query.sizes[3], a.value.sizes[3],           a.query.sizes[1] / a.key.sizes[1]};
}

AttentionKey key_of(const AttentionLayout& a) {
  AttentionKey key;
  for (const auto* m :
       {&a.query, &a.key, &a.value, &a.out, &a.grad, &a.grad_query, &a.grad_key, &a.grad_value})
    for (const auto* numbers : {&m->sizes, &m->strides})
      key.insert(key.end(), numbers->begin(), numbers->end());
  return key;
}

/// The plan for a layout, or null. Plans are kept for good: captured graphs replay their kernels,
/// and when the process ends there is no driver to free them. So calls of yet another kind get none
/// when there are many.
AttentionPlan* plan_for(cudnnHandle_t handle, int device, Kind kind, const AttentionLayout& a) {
  static std::mutex mutex;
  static auto& all = *new std::map<AttentionKey, AttentionPlans>;
  const std::lock_guard lock(mutex);
  AttentionPlans& plans = all[topic_of(device, kind, a)];
  AttentionKey key = key_of(a);
  const auto known = plans.known.find(key);
  AttentionPlan* plan = known != plans.known.end() ? known->second.get()
                                                   : plans.make(handle, kind, a, std::move(key));
  return plan && plan->built ? plan : nullptr;
}

/// Runs the plan for a layout on `data`, which lacks numbers alone.
bool run_plan(const Context& context, Device device, Kind kind, const AttentionLayout& a,
              double scale, std::map<Graph::Id, void*> data) {
  const CudnnHandle handle(context);
  if (!handle.get()) return false;
  AttentionPlan* plan = plan_for(handle.get(), context.device, kind, a);
  if (!plan) return false;
  float factor = static_cast<float>(scale), lowest = -std::numeric_limits<float>::infinity(),
        one = 1;
  data[kScale] = &factor;
  if (a.causal) data[kLowest] = &lowest;
  if (kind != Kind::Forward) data[kOne] = &one;
  const Scratch workspace(device, plan->graph.workspace());
  const std::lock_guard lock(plan->mutex);
  return plan->graph.run(handle.get(), data, workspace.as<void>());
}

AttentionLayout layout_of(const Tensor& out, const Tensor& query, const Tensor& key,
                          const Tensor& value, bool causal) {
  AttentionLayout a;
  a.type = *cudnn_type(query.dtype());
  a.causal = causal;
  a.query = matrices_of(query);
  a.key = matrices_of(key);
  a.value = matrices_of(value);
  a.out = matrices_of(out);
  return a;
}

}  // namespace

bool cudnn_attention(const Context& context, const Tensor& out, const Tensor& log_sum,
                     const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor& mask, const AttentionSpec& spec) {
  if (!may_be_asked(context, query, key, mask, spec, kOldestForward)) return false;
  for (const Tensor* t : {&out, &query, &key, &value})
    if (!takes(*t, query.dtype())) return false;
  return run_plan(context, query.device(), Kind::Forward,
                  layout_of(out, query, key, value, spec.causal), spec.scale,
                  {{kQuery, query.data_ptr()},
                   {kKey, key.data_ptr()},
                   {kValue, value.data_ptr()},
                   {kOut, out.data_ptr()},
                   {kLogSum, log_sum.data_ptr()}});
}

bool cudnn_attention_backward(const Context& context, const Tensor& grad_query,
                              const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad,
                              const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& mask, const Tensor& out, const Tensor& log_sum,
                              const AttentionSpec& spec) {
  if (!may_be_asked(context, query, key, mask, spec, kOldestBackward)) return false;
  const bool any_order = backends::cudnn::benchmark && !backends::cudnn::deterministic;
  const bool ordered_is_known = capability_of(context.device) == 9 && query.size(1) == key.size(1);
  if (!any_order && !ordered_is_known) return false;
  for (const Tensor* t : {&grad_query, &grad_key, &grad_value, &grad, &query, &key, &value, &out})
    if (!takes(*t, query.dtype())) return false;
  AttentionLayout a = layout_of(out, query, key, value, spec.causal);
  a.grad = matrices_of(grad);
  a.grad_query = matrices_of(grad_query);
  a.grad_key = matrices_of(grad_key);
  a.grad_value = matrices_of(grad_value);
  const auto floats = [](int64_t count) { return count * static_cast<int64_t>(sizeof(float)); };
  const Scratch delta(query.device(), floats(log_sum.numel())),
      sums(query.device(), any_order ? floats(query.numel()) : 0);
  std::map<Graph::Id, void*> data{
      {kQuery, query.data_ptr()},          {kKey, key.data_ptr()},
      {kValue, value.data_ptr()},          {kOut, out.data_ptr()},
      {kLogSum, log_sum.data_ptr()},       {kGrad, grad.data_ptr()},
      {kGradQuery, grad_query.data_ptr()}, {kGradKey, grad_key.data_ptr()},
      {kGradValue, grad_value.data_ptr()}, {kDelta, delta.as<void>()}};
  if (any_order) data[kQuerySums] = sums.as<void>();
  return run_plan(context, query.device(),
                  any_order ? Kind::AnyOrderBackward : Kind::OrderedBackward, a, spec.scale,
                  std::move(data));
}

#else

bool cudnn_attention(const Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                     const Tensor&, const Tensor&, const AttentionSpec&) {
  return false;
}
bool cudnn_attention_backward(const Context&, const Tensor&, const Tensor&, const Tensor&,
                              const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                              const Tensor&, const Tensor&, const Tensor&, const AttentionSpec&) {
  return false;
}

#endif

}  // namespace taeda::inline v0_2::gpu
