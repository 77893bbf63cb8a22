// cuDNN's graphs: operations on tensors are described, the library finds a kernel for them all.
// Needs no device, so that a test can ask for another machine's plans.
#pragma once

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/base/array_ref.h"

namespace taeda::inline v0_2::gpu {

/// The functions of the library's graph interface.
struct GraphFunctions {
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnBackendCreateDescriptor) create;
  decltype(&cudnnBackendDestroyDescriptor) destroy;
  decltype(&cudnnBackendSetAttribute) set;
  decltype(&cudnnBackendGetAttribute) get;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;

  /// False where `find` does not know one of the names.
  bool load(void* (*find)(const char* name));
};

/// A descriptor of the library, which remembers the first refusal of what is asked of it.
class GraphObject {
 public:
  GraphObject(const GraphFunctions& f, cudnnBackendDescriptorType_t type);
  ~GraphObject();
  GraphObject(GraphObject&& other) noexcept;
  GraphObject& operator=(GraphObject&&) = delete;

  GraphObject& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   const void* values, int64_t count = 1);
  GraphObject& set(cudnnBackendAttributeName_t name, const GraphObject& value);
  GraphObject& finalize();

  cudnnBackendDescriptor_t get() const { return descriptor_; }
  cudnnStatus_t status() const { return status_; }

 private:
  const GraphFunctions* f_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  cudnnStatus_t status_;
};

/// What a graph is built for: the device of a handle, or one that is only described.
struct GraphTarget {
  cudnnHandle_t handle = nullptr;
  const GraphObject* properties = nullptr;  ///< CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
};

/// Which kernels a graph may be built with.
struct GraphWishes {
  bool any_order = false;  ///< sums whose order may differ from run to run
  bool tensor_cores = true;
};

/// Operations on tensors of four dimensions, those of convolutions of five, too; computed in float
/// but for convolutions. Described first, then built once, then run, which only one thread may do
/// at a time.
class Graph {
 public:
  using Sizes = std::vector<int64_t>;
  /// Names a tensor. The caller's names, those of tensors in memory, are below kFirstInner.
  using Id = int64_t;
  static constexpr Id kFirstInner = 1000;

  explicit Graph(const GraphFunctions& f) : f_(f) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A tensor that starts at a multiple of `alignment` bytes.
  void memory(Id id, cudnnDataType_t type, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
              int64_t alignment = 16);
  /// A float that the host gives to each run.
  void number(Id id);

  /// Where a result goes: to a tensor in memory, or on to other operations in this type.
  struct Into {
    Into(cudnnDataType_t t) : type(t) {}
    Into(Id to) : id(to) {}
    Id id = 0;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
  };
  /// a b of matrices in the last two dimensions; heads of `a` may be several for one of `b`.
  Id matmul(Id a, Id b, Into into = CUDNN_DATA_FLOAT);
  /// `third` is what `BINARY_SELECT` decides by.
  Id pointwise(cudnnPointwiseMode_t mode, Id x, Id y = 0, Into into = CUDNN_DATA_FLOAT,
               Id third = 0);
  /// The index of each element of `like` along a dimension, int32.
  Id index(Id like, int64_t dim);
  /// Whether x >= y.
  Id at_least(Id x, Id y);
  /// Over the last dimension; into memory, over those that are 1 or fewer there.
  Id reduce(cudnnReduceTensorOp_t op, Id x, Into into = CUDNN_DATA_FLOAT);
  /// Matrices the other way round.
  Id transpose(Id x, cudnnDataType_t type);

  /// The three tensors of a convolution, which of them is computed, and how.
  struct Convolution {
    enum class Kind { Forward, InputGrad, WeightGrad } kind = Kind::Forward;
    Id in = 0, weight = 0, out = 0;
    cudnnDataType_t computed = CUDNN_DATA_FLOAT;
    std::vector<int64_t> padding, stride, dilation;  ///< by spatial dimension
  };
  void convolution(const Convolution& c);

  /// Asks for kernels, best first, and builds the first that needs at most `most_workspace` bytes.
  /// What refused otherwise. Graphs that are alike but for sizes and strides may be given one
  /// `kernels`, empty at first: then kernels are translated once for all of them.
  cudnnStatus_t build(const GraphTarget& target, int64_t most_workspace,
                      std::optional<GraphObject>* kernels = nullptr, GraphWishes wishes = {});
  /// Builds up to `most` of them, for the caller to `choose` one; how many there are.
  size_t build_some(const GraphTarget& target, int64_t most_workspace, size_t most,
                    GraphWishes wishes);
  void choose(size_t i) { chosen_ = i; }
  /// Bytes that a run needs.
  int64_t workspace() const { return plans_.empty() ? 0 : plans_[chosen_].workspace; }
  /// Queues the kernels on the handle's stream. `data` has the address of each of the caller's
  /// tensors, and that of each number on the host.
  bool run(cudnnHandle_t handle, const std::map<Id, void*>& data, void* workspace);

 private:
  struct Described {
    GraphObject object;
    Sizes sizes, strides;
  };
  struct Plan {
    GraphObject object;
    int64_t workspace;
  };
  void describe(Id id, cudnnDataType_t type, const Sizes& sizes, const Sizes& strides, bool inner,
                bool by_value, int64_t alignment = 16);
  Id target_of(Into into, const Sizes& sizes);
  const Sizes& sizes_of(Id id) const { return tensors_.at(id).sizes; }
  /// An operation that is given tensors, and what it is to do with them.
  void add(cudnnBackendDescriptorType_t type, GraphObject* what,
           cudnnBackendAttributeName_t what_name,
           std::initializer_list<std::pair<cudnnBackendAttributeName_t, Id>> tensors);
  void build_operations(const GraphTarget& target, std::optional<GraphObject>* kernels);
  std::vector<GraphObject> configurations(const GraphTarget& target, cudnnBackendHeurMode_t mode);
  cudnnStatus_t build_plan(const GraphTarget& target, GraphObject& configuration,
                           int64_t most_workspace, const GraphObject* kernels);
  bool suits(const GraphObject& configuration, GraphWishes wishes) const;
  void refuse(cudnnStatus_t status);

  const GraphFunctions& f_;
  std::map<Id, Described> tensors_;
  std::vector<GraphObject> operations_, kept_;  // built plans refer to them
  std::optional<GraphObject> graph_;
  std::vector<Plan> plans_;
  size_t chosen_ = 0;
  Id next_ = kFirstInner;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

}  // namespace taeda::inline v0_2::gpu

#endif
