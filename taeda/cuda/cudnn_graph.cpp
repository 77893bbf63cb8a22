#include "taeda/cuda/cudnn_graph.h"

#if __has_include(<cudnn.h>)
#include <algorithm>
#include <utility>

namespace taeda::inline v0_2::gpu {

namespace {

// Their enumerators are marked as deprecated, but all versions but the newest ask for them.
constexpr auto kGraphHandle = static_cast<cudnnBackendAttributeName_t>(800);
constexpr auto kPlanHandle = static_cast<cudnnBackendAttributeName_t>(400);
// Not in the headers of the first versions.
constexpr auto kGraphIsDynamic = static_cast<cudnnBackendAttributeName_t>(803);
constexpr auto kKernelsGraph = static_cast<cudnnBackendAttributeName_t>(2400);
constexpr auto kPlanKernels = static_cast<cudnnBackendAttributeName_t>(406);
constexpr auto kKernels = static_cast<cudnnBackendDescriptorType_t>(34);
constexpr auto kHeuristicProperties = static_cast<cudnnBackendAttributeName_t>(204);
constexpr auto kPlanProperties = static_cast<cudnnBackendAttributeName_t>(407);

/// As if the tensor was contiguous.
Graph::Sizes dense_strides(const Graph::Sizes& sizes) {
  Graph::Sizes strides(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0; step *= sizes[d]) strides[d] = step;
  return strides;
}

/// What the library calls a convolution's parts.
struct ConvolutionNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t how, in, weight, out, alpha, beta;
};

const ConvolutionNames& names_of(Graph::Convolution::Kind kind) {
  static constexpr ConvolutionNames names[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
  return names[static_cast<int>(kind)];
}

}  // namespace

bool GraphFunctions::load(void* (*find)(const char* name)) {
  const auto load_one = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(find(name));
    return function != nullptr;
  };
  return load_one(version, "cudnnGetVersion") && load_one(create, "cudnnBackendCreateDescriptor") &&
         load_one(destroy, "cudnnBackendDestroyDescriptor") &&
         load_one(set, "cudnnBackendSetAttribute") && load_one(get, "cudnnBackendGetAttribute") &&
         load_one(finalize, "cudnnBackendFinalize") && load_one(execute, "cudnnBackendExecute");
}

GraphObject::GraphObject(const GraphFunctions& f, cudnnBackendDescriptorType_t type)
    : f_(&f), status_(f.create(type, &descriptor_)) {}

GraphObject::~GraphObject() {
  if (descriptor_) f_->destroy(descriptor_);
}

GraphObject::GraphObject(GraphObject&& other) noexcept
    : f_(other.f_),
      descriptor_(std::exchange(other.descriptor_, nullptr)),
      status_(other.status_) {}

GraphObject& GraphObject::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                              const void* values, int64_t count) {
  if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->set(descriptor_, name, type, count, values);
  return *this;
}

GraphObject& GraphObject::set(cudnnBackendAttributeName_t name, const GraphObject& value) {
  const cudnnBackendDescriptor_t descriptor = value.get();
  return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &descriptor);
}

GraphObject& GraphObject::finalize() {
  if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->finalize(descriptor_);
  return *this;
}

void Graph::refuse(cudnnStatus_t status) {
  if (status_ == CUDNN_STATUS_SUCCESS) status_ = status;
}

void Graph::describe(Id id, cudnnDataType_t type, const Sizes& sizes, const Sizes& strides,
                     bool inner, bool by_value, int64_t alignment) {
  GraphObject tensor(f_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const auto rank = static_cast<int64_t>(sizes.size());
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, &id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes.data(), rank)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.data(), rank)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, &alignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, &inner)
      .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, &by_value)
      .finalize();
  refuse(tensor.status());
  tensors_.emplace(id, Described{std::move(tensor), sizes, strides});
}

void Graph::memory(Id id, cudnnDataType_t type, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                   int64_t alignment) {
  describe(id, type, {sizes.begin(), sizes.end()}, {strides.begin(), strides.end()}, false, false,
           alignment);
}

void Graph::number(Id id) {
  describe(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, false, true);
}

Graph::Id Graph::target_of(Into into, const Sizes& sizes) {
  if (into.id) return into.id;
  describe(next_, into.type, sizes, dense_strides(sizes), true, false);
  return next_++;
}

void Graph::add(cudnnBackendDescriptorType_t type, GraphObject* what,
                cudnnBackendAttributeName_t what_name,
                std::initializer_list<std::pair<cudnnBackendAttributeName_t, Id>> tensors) {
  GraphObject operation(f_, type);
  if (what) {
    what->finalize();
    refuse(what->status());
    operation.set(what_name, *what);
    kept_.push_back(std::move(*what));
  }
  for (const auto& [name, id] : tensors)
    if (id) operation.set(name, tensors_.at(id).object);
  operation.finalize();
  refuse(operation.status());
  operations_.push_back(std::move(operation));
}

Graph::Id Graph::matmul(Id a, Id b, Into into) {
  Sizes sizes = sizes_of(a);
  sizes[3] = sizes_of(b)[3];
  const Id to = target_of(into, sizes);
  const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
  GraphObject product(f_, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &computed);
  add(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, &product, CUDNN_ATTR_OPERATION_MATMUL_DESC,
      {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
       {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
       {CUDNN_ATTR_OPERATION_MATMUL_CDESC, to}});
  return to;
}

Graph::Id Graph::pointwise(cudnnPointwiseMode_t mode, Id x, Id y, Into into, Id third) {
  const Id to = target_of(into, sizes_of(x));
  const cudnnDataType_t computed =
      mode == CUDNN_POINTWISE_CMP_GE ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT;
  GraphObject formula(f_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  formula.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, &computed);
  add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, &formula,
      CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
       {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, y},
       {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, third},
       {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to}});
  return to;
}

Graph::Id Graph::index(Id like, int64_t dim) {
  const Id to = target_of(CUDNN_DATA_INT32, sizes_of(like));
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
  const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
  GraphObject formula(f_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  formula.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, &mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, &computed)
      .set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, &dim);
  add(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, &formula,
      CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, like}, {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to}});
  return to;
}

Graph::Id Graph::at_least(Id x, Id y) {
  return pointwise(CUDNN_POINTWISE_CMP_GE, x, y, CUDNN_DATA_BOOLEAN);
}

Graph::Id Graph::reduce(cudnnReduceTensorOp_t op, Id x, Into into) {
  Sizes sizes = sizes_of(x);
  sizes[3] = 1;
  const Id to = target_of(into, sizes);
  const cudnnDataType_t computed = CUDNN_DATA_FLOAT;
  GraphObject reduction(f_, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, &op)
      .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &computed);
  add(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, &reduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC,
      {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to}});
  return to;
}

Graph::Id Graph::transpose(Id x, cudnnDataType_t type) {
  Sizes sizes = sizes_of(x), strides = tensors_.at(x).strides;
  std::swap(sizes[2], sizes[3]);
  std::swap(strides[2], strides[3]);
  const Id to = next_++;
  describe(to, type, sizes, strides, true, false);
  add(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, nullptr, {},
      {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to}});
  return to;
}

void Graph::convolution(const Convolution& c) {
  const auto dims = static_cast<int64_t>(c.padding.size());
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  GraphObject how(f_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, &dims)
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &c.computed)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, c.padding.data(), dims)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, c.padding.data(), dims)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, c.stride.data(), dims)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, c.dilation.data(), dims);
  how.finalize();
  refuse(how.status());
  const ConvolutionNames& names = names_of(c.kind);
  const float numbers[] = {1, 0};
  const double doubles[] = {1, 0};
  const bool wide = c.computed == CUDNN_DATA_DOUBLE;
  const auto type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  const auto number = [&](int i) {
    return wide ? static_cast<const void*>(&doubles[i]) : &numbers[i];
  };
  GraphObject operation(f_, names.operation);
  operation.set(names.how, how)
      .set(names.in, tensors_.at(c.in).object)
      .set(names.weight, tensors_.at(c.weight).object)
      .set(names.out, tensors_.at(c.out).object)
      .set(names.alpha, type, number(0))
      .set(names.beta, type, number(1))
      .finalize();
  refuse(operation.status());
  kept_.push_back(std::move(how));
  operations_.push_back(std::move(operation));
}

void Graph::build_operations(const GraphTarget& target, std::optional<GraphObject>* kernels) {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const GraphObject& o : operations_) all.push_back(o.get());
  GraphObject graph(f_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (target.handle) graph.set(kGraphHandle, CUDNN_TYPE_HANDLE, &target.handle);
  const bool dynamic = true;
  if (kernels) graph.set(kGraphIsDynamic, CUDNN_TYPE_BOOLEAN, &dynamic);
  graph
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, all.data(),
           static_cast<int64_t>(all.size()))
      .finalize();
  refuse(graph.status());
  if (kernels && !*kernels) {
    kernels->emplace(f_, kKernels).set(kKernelsGraph, graph).finalize();
    refuse((*kernels)->status());
  }
  graph_.emplace(std::move(graph));
}

std::vector<GraphObject> Graph::configurations(const GraphTarget& target,
                                               cudnnBackendHeurMode_t mode) {
  GraphObject heuristic(f_, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *graph_)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
  if (target.properties) heuristic.set(kHeuristicProperties, *target.properties);
  heuristic.finalize();
  cudnnStatus_t status = heuristic.status();
  constexpr int64_t kMost = 24;
  std::vector<GraphObject> found;
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (int64_t i = 0; i < kMost; ++i) {
    found.emplace_back(f_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    descriptors.push_back(found.back().get());
  }
  int64_t count = 0;
  if (status == CUDNN_STATUS_SUCCESS)
    status = f_.get(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                    kMost, &count, descriptors.data());
  const auto good =
      status == CUDNN_STATUS_SUCCESS ? static_cast<size_t>(std::min(count, kMost)) : 0;
  while (found.size() > good) found.pop_back();
  kept_.push_back(std::move(heuristic));
  return found;
}

/// As far as the library tells.
bool Graph::suits(const GraphObject& configuration, GraphWishes wishes) const {
  GraphObject engine(f_, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t descriptor = engine.get();
  int64_t count = 0;
  if (f_.get(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
             &count, &descriptor) != CUDNN_STATUS_SUCCESS)
    return false;
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  if (f_.get(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
             CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes) != CUDNN_STATUS_SUCCESS)
    return false;
  auto* end = notes + std::min<int64_t>(count, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto has = [&](cudnnBackendNumericalNote_t note) {
    return std::find(notes, end, note) != end;
  };
  return (wishes.any_order || !has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) &&
         (wishes.tensor_cores || !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) &&
         !has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
}

cudnnStatus_t Graph::build_plan(const GraphTarget& target, GraphObject& configuration,
                                int64_t most_workspace, const GraphObject* kernels) {
  GraphObject plan(f_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  if (target.handle) plan.set(kPlanHandle, CUDNN_TYPE_HANDLE, &target.handle);
  if (target.properties) plan.set(kPlanProperties, *target.properties);
  if (kernels) plan.set(kPlanKernels, *kernels);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration).finalize();
  int64_t count = 0, bytes = 0;
  cudnnStatus_t status = plan.status();
  if (status == CUDNN_STATUS_SUCCESS)
    status = f_.get(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                    &count, &bytes);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (bytes > most_workspace) return CUDNN_STATUS_NOT_SUPPORTED;
  kept_.push_back(std::move(configuration));
  plans_.push_back({std::move(plan), bytes});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Graph::build(const GraphTarget& target, int64_t most_workspace,
                           std::optional<GraphObject>* kernels, GraphWishes wishes) {
  if (status_ == CUDNN_STATUS_SUCCESS) build_operations(target, kernels);
  if (status_ != CUDNN_STATUS_SUCCESS) return status_;
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (GraphObject& configuration : configurations(target, mode)) {
      if (!suits(configuration, wishes)) continue;
      status = build_plan(target, configuration, most_workspace, kernels ? &**kernels : nullptr);
      // A driver that does not load one kernel will not load the next.
      if (status == CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER)
        return status;
    }
  return status;
}

size_t Graph::build_some(const GraphTarget& target, int64_t most_workspace, size_t most,
                         GraphWishes wishes) {
  if (status_ == CUDNN_STATUS_SUCCESS) build_operations(target, nullptr);
  if (status_ != CUDNN_STATUS_SUCCESS) return 0;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (GraphObject& configuration : configurations(target, mode))
      if (plans_.size() < most && suits(configuration, wishes))
        build_plan(target, configuration, most_workspace, nullptr);
  return plans_.size();
}

bool Graph::run(cudnnHandle_t handle, const std::map<Id, void*>& data, void* workspace) {
  if (plans_.empty()) return false;
  std::vector<Id> ids;
  std::vector<void*> pointers;
  for (const auto& [id, pointer] : data) {
    ids.push_back(id);
    pointers.push_back(pointer);
  }
  GraphObject pack(f_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const auto count = static_cast<int64_t>(ids.size());
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids.data(), count)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers.data(), count)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &workspace)
      .finalize();
  return pack.status() == CUDNN_STATUS_SUCCESS &&
         f_.execute(handle, plans_[chosen_].object.get(), pack.get()) == CUDNN_STATUS_SUCCESS;
}

}  // namespace taeda::inline v0_2::gpu

#endif
