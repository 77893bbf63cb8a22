// cuDNN's graphs: operations on tensors are described, the library finds a kernel for them all.
// Needs no device, so that a test can ask for another machine's plans.
#pragma once

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

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

/// Operations on tensors of four dimensions; computed in float. Described first, then built once,
/// then run, which only one thread may do at a time.
class Graph {
 public:
  using Sizes = std::array<int64_t, 4>;
  /// Names a tensor. The caller's names, those of tensors in memory, are below kFirstInner.
  using Id = int64_t;
  static constexpr Id kFirstInner = 1000;

  explicit Graph(const GraphFunctions& f) : f_(f) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A tensor that starts at a multiple of 16 bytes.
  void memory(Id id, cudnnDataType_t type, const Sizes& sizes, const Sizes& strides);
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

  /// Asks for kernels, best first, and builds the first that needs at most `most_workspace` bytes.
  /// What refused otherwise. Graphs that are alike but for sizes and strides may be given one
  /// `kernels`, empty at first: then kernels are translated once for all of them.
  cudnnStatus_t build(const GraphTarget& target, int64_t most_workspace,
                      std::optional<GraphObject>* kernels = nullptr);
  /// Bytes that a run needs.
  int64_t workspace() const { return workspace_; }
  /// Queues the kernels on the handle's stream. `data` has the address of each of the caller's
  /// tensors, and that of each number on the host.
  bool run(cudnnHandle_t handle, const std::map<Id, void*>& data, void* workspace);

 private:
  struct Described {
    GraphObject object;
    Sizes sizes, strides;
  };
  void describe(Id id, cudnnDataType_t type, const Sizes& sizes, const Sizes& strides, bool inner,
                bool by_value);
  Id target_of(Into into, const Sizes& sizes);
  const Sizes& sizes_of(Id id) const { return tensors_.at(id).sizes; }
  /// An operation that is given tensors, and what it is to do with them.
  void add(cudnnBackendDescriptorType_t type, GraphObject* what,
           cudnnBackendAttributeName_t what_name,
           std::initializer_list<std::pair<cudnnBackendAttributeName_t, Id>> tensors);
  void build_operations(const GraphTarget& target, std::optional<GraphObject>* kernels);
  std::vector<GraphObject> configurations(const GraphTarget& target);
  cudnnStatus_t build_plan(const GraphTarget& target, GraphObject& configuration,
                           int64_t most_workspace, const GraphObject* kernels);
  bool gives_equal_bits(const GraphObject& configuration) const;
  void refuse(cudnnStatus_t status);

  const GraphFunctions& f_;
  std::map<Id, Described> tensors_;
  std::vector<GraphObject> operations_, kept_;  // the built plan refers to them
  std::vector<GraphObject> plan_;               // one, once built
  Id next_ = kFirstInner;
  int64_t workspace_ = 0;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

}  // namespace taeda::gpu

#endif
