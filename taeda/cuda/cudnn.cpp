#include "taeda/cuda/cudnn.h"

#include "taeda/cuda/cudnn_library.h"

#if __has_include(<cudnn.h>)

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "taeda/cuda/shared_library.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/memory_order.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cudnn.h>)

namespace {

constexpr size_t kMaxWorkspace = size_t{1} << 30;
constexpr size_t kTimingWorkspace = size_t{1} << 28;

/// The functions used, of the version that the headers are of.
struct Library {
  SharedLibrary opened{};
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnCreateTensorDescriptor) tensor_create;
  decltype(&cudnnDestroyTensorDescriptor) tensor_destroy;
  decltype(&cudnnSetTensorNdDescriptor) tensor_set;
  decltype(&cudnnCreateFilterDescriptor) filter_create;
  decltype(&cudnnDestroyFilterDescriptor) filter_destroy;
  decltype(&cudnnSetFilterNdDescriptor) filter_set;
  decltype(&cudnnCreateConvolutionDescriptor) conv_create;
  decltype(&cudnnDestroyConvolutionDescriptor) conv_destroy;
  decltype(&cudnnSetConvolutionNdDescriptor) conv_set;
  decltype(&cudnnSetConvolutionGroupCount) conv_groups;
  decltype(&cudnnSetConvolutionMathType) conv_math;
  decltype(&cudnnGetConvolutionForwardAlgorithm_v7) forward_algorithms;
  decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) data_algorithms;
  decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) filter_algorithms;
  decltype(&cudnnFindConvolutionForwardAlgorithmEx) time_forward;
  decltype(&cudnnFindConvolutionBackwardDataAlgorithmEx) time_data;
  decltype(&cudnnFindConvolutionBackwardFilterAlgorithmEx) time_filter;
  decltype(&cudnnConvolutionForward) forward;
  decltype(&cudnnConvolutionBackwardData) backward_data;
  decltype(&cudnnConvolutionBackwardFilter) backward_filter;

  bool load() {
    const std::string file = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
    opened = SharedLibrary{file.c_str()};
    const SharedLibrary& library = opened;
    return library.load(create, "cudnnCreate") && library.load(set_stream, "cudnnSetStream") &&
           library.load(tensor_create, "cudnnCreateTensorDescriptor") &&
           library.load(tensor_destroy, "cudnnDestroyTensorDescriptor") &&
           library.load(tensor_set, "cudnnSetTensorNdDescriptor") &&
           library.load(filter_create, "cudnnCreateFilterDescriptor") &&
           library.load(filter_destroy, "cudnnDestroyFilterDescriptor") &&
           library.load(filter_set, "cudnnSetFilterNdDescriptor") &&
           library.load(conv_create, "cudnnCreateConvolutionDescriptor") &&
           library.load(conv_destroy, "cudnnDestroyConvolutionDescriptor") &&
           library.load(conv_set, "cudnnSetConvolutionNdDescriptor") &&
           library.load(conv_groups, "cudnnSetConvolutionGroupCount") &&
           library.load(conv_math, "cudnnSetConvolutionMathType") &&
           library.load(forward_algorithms, "cudnnGetConvolutionForwardAlgorithm_v7") &&
           library.load(data_algorithms, "cudnnGetConvolutionBackwardDataAlgorithm_v7") &&
           library.load(filter_algorithms, "cudnnGetConvolutionBackwardFilterAlgorithm_v7") &&
           library.load(time_forward, "cudnnFindConvolutionForwardAlgorithmEx") &&
           library.load(time_data, "cudnnFindConvolutionBackwardDataAlgorithmEx") &&
           library.load(time_filter, "cudnnFindConvolutionBackwardFilterAlgorithmEx") &&
           library.load(forward, "cudnnConvolutionForward") &&
           library.load(backward_data, "cudnnConvolutionBackwardData") &&
           library.load(backward_filter, "cudnnConvolutionBackwardFilter");
  }
};

/// The loaded library, or null.
const Library* loaded_library() {
  static const std::unique_ptr<Library> loaded = [] {
    const char* text = std::getenv("TAEDA_CUDA_DNN");
    auto l = std::make_unique<Library>();
    if ((text && std::strcmp(text, "0") == 0) || !l->load()) l.reset();
    return l;
  }();
  return loaded.get();
}

/// The same while backends::cudnn::enabled.
const Library* library() { return backends::cudnn::enabled ? loaded_library() : nullptr; }

}  // namespace

bool cudnn_usable() { return library() != nullptr; }

void* cudnn_symbol(const char* name) {
  const Library* l = loaded_library();
  return l ? l->opened.symbol(name) : nullptr;
}

std::mutex& CudnnHandle::mutex() {
  static std::mutex m;
  return m;
}

std::map<int, std::vector<cudnnHandle_t>>& CudnnHandle::free_ones() {
  static std::map<int, std::vector<cudnnHandle_t>> handles;
  return handles;
}

CudnnHandle::CudnnHandle(const Context& context) : device_(context.device) {
  const Library* l = loaded_library();
  if (!l) return;
  {
    const std::lock_guard lock(mutex());
    std::vector<cudnnHandle_t>& mine = free_ones()[device_];
    if (!mine.empty()) {
      handle_ = mine.back();
      mine.pop_back();
    }
  }
  if (!handle_ && l->create(&handle_) != CUDNN_STATUS_SUCCESS) handle_ = nullptr;
  usable_ = handle_ && l->set_stream(handle_, context.stream) == CUDNN_STATUS_SUCCESS;
}

CudnnHandle::~CudnnHandle() {
  if (!handle_) return;
  const std::lock_guard lock(mutex());
  free_ones()[device_].push_back(handle_);
}

std::optional<cudnnDataType_t> cudnn_type(ScalarType t) {
  switch (t) {
    case kFloat: return CUDNN_DATA_FLOAT;
    case kDouble: return CUDNN_DATA_DOUBLE;
    case kHalf: return CUDNN_DATA_HALF;
    case kBFloat16: return CUDNN_DATA_BFLOAT16;
    default: return std::nullopt;
  }
}

namespace {

/// Everything that the choice of an algorithm depends on.
using Key = std::vector<int64_t>;

/// A convolution in the library's words, with at least two spatial dimensions. Frees what it made.
class Problem {
 public:
  Problem(const Library& l, const Tensor& in, const Tensor& out, const Tensor& weight,
          const ConvGeometry& g)
      : l_(l), ndim_(g.ndim < 2 ? 2 : g.ndim), extra_(ndim_ - g.ndim), dtype_(in.dtype()) {
    for (const Tensor* t : {&in, &out, &weight}) last_ = last_ || is_channels_last_only(*t);
    remember({last_});
    const auto type = cudnn_type(dtype_);
    if (!type || !fits(in, out, weight, g)) return;
    type_ = *type;
    ok_ = l.tensor_create(&in_) == CUDNN_STATUS_SUCCESS &&
          l.tensor_create(&out_) == CUDNN_STATUS_SUCCESS &&
          l.filter_create(&weight_) == CUDNN_STATUS_SUCCESS &&
          l.conv_create(&conv_) == CUDNN_STATUS_SUCCESS && set(in_, sizes(in)) &&
          set(out_, sizes(out)) && set_weight(sizes(weight)) && set_conv(g);
  }
  ~Problem() {
    if (conv_) l_.conv_destroy(conv_);
    if (weight_) l_.filter_destroy(weight_);
    for (cudnnTensorDescriptor_t t : {in_, out_})
      if (t) l_.tensor_destroy(t);
  }
  Problem(const Problem&) = delete;

  bool ok() const { return ok_; }
  cudnnTensorDescriptor_t in() const { return in_; }
  cudnnTensorDescriptor_t out() const { return out_; }
  cudnnFilterDescriptor_t weight() const { return weight_; }
  cudnnConvolutionDescriptor_t conv() const { return conv_; }
  const Key& key() const { return key_; }
  /// Uses the kind of arithmetic that an algorithm was rated with, and that its memory is for.
  /// Where the caller wants no TF32 there is one kind.
  bool use(cudnnMathType_t math) const {
    return math_ == CUDNN_FMA_MATH || l_.conv_math(conv_, math) == CUDNN_STATUS_SUCCESS;
  }
  /// Scaling factors 0 and 1 in the type that the library wants.
  const void* number(bool one) const {
    static const float floats[] = {0, 1};
    static const double doubles[] = {0, 1};
    return dtype_ == kDouble ? static_cast<const void*>(doubles + one) : floats + one;
  }

 private:
  /// Operands of one memory order, whose sizes the library derives as we do, and can count.
  bool fits(const Tensor& in, const Tensor& out, const Tensor& weight,
            const ConvGeometry& g) const {
    const auto order = last_ ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
    for (const Tensor* t : {&in, &out, &weight})
      if (!t->is_contiguous(order) || t->numel() == 0 || t->numel() > INT32_MAX) return false;
    for (int d = 0; d < g.ndim; ++d) {
      const int64_t reach = g.dilation[d] * (weight.size(d + 2) - 1) + 1;
      const int64_t room = in.size(d + 2) + 2 * g.padding[d] - reach;
      if (room < 0 || room / g.stride[d] + 1 != out.size(d + 2)) return false;
    }
    return true;
  }
  std::vector<int> sizes(const Tensor& t) const {
    std::vector<int> out{static_cast<int>(t.size(0)), static_cast<int>(t.size(1))};
    for (int d = 0; d < extra_; ++d) out.push_back(1);
    for (int64_t d = 2; d < t.dim(); ++d) out.push_back(static_cast<int>(t.size(d)));
    return out;
  }
  void remember(const std::vector<int>& numbers) {
    key_.insert(key_.end(), numbers.begin(), numbers.end());
  }
  bool set(cudnnTensorDescriptor_t desc, const std::vector<int>& size) {
    std::vector<int> stride(size.size(), 1);
    if (last_)
      stride = {size[1] * size[2] * size[3], 1, size[3] * size[1], size[1]};
    else
      for (size_t d = size.size() - 1; d-- > 0;) stride[d] = stride[d + 1] * size[d + 1];
    remember(size);
    return l_.tensor_set(desc, type_, static_cast<int>(size.size()), size.data(), stride.data()) ==
           CUDNN_STATUS_SUCCESS;
  }
  bool set_weight(const std::vector<int>& size) {
    remember(size);
    return l_.filter_set(weight_, type_, last_ ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                         static_cast<int>(size.size()), size.data()) == CUDNN_STATUS_SUCCESS;
  }
  bool set_conv(const ConvGeometry& g) {
    std::vector<int> padding(static_cast<size_t>(extra_), 0), stride(padding.size(), 1),
        dilation(padding.size(), 1);
    for (int d = 0; d < g.ndim; ++d) {
      padding.push_back(static_cast<int>(g.padding[d]));
      stride.push_back(static_cast<int>(g.stride[d]));
      dilation.push_back(static_cast<int>(g.dilation[d]));
    }
    for (const auto* numbers : {&padding, &stride, &dilation}) remember(*numbers);
    // The library's default allows TF32 for float.
    math_ = is_reduced_floating(dtype_)   ? CUDNN_TENSOR_OP_MATH
            : backends::cudnn::allow_tf32 ? CUDNN_DEFAULT_MATH
                                          : CUDNN_FMA_MATH;
    remember({static_cast<int>(g.groups), static_cast<int>(dtype_), static_cast<int>(math_)});
    const auto compute = dtype_ == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    return l_.conv_set(conv_, ndim_, padding.data(), stride.data(), dilation.data(),
                       CUDNN_CROSS_CORRELATION, compute) == CUDNN_STATUS_SUCCESS &&
           l_.conv_groups(conv_, static_cast<int>(g.groups)) == CUDNN_STATUS_SUCCESS &&
           l_.conv_math(conv_, math_) == CUDNN_STATUS_SUCCESS;
  }

  const Library& l_;
  int ndim_, extra_;
  ScalarType dtype_;
  cudnnDataType_t type_{};
  cudnnMathType_t math_{};
  cudnnTensorDescriptor_t in_ = nullptr, out_ = nullptr;
  cudnnFilterDescriptor_t weight_ = nullptr;
  cudnnConvolutionDescriptor_t conv_ = nullptr;
  Key key_;
  bool last_ = false;  // channels-last
  bool ok_ = false;
};

/// An algorithm and what it needs.
template <class Perf>
struct Choice {
  decltype(Perf::algo) algorithm;
  size_t memory;
  cudnnMathType_t math;
};

/// The remembered choice for a problem, or the first good one of those that are listed, best first:
/// by `list(count, found)`, which guesses, or under backends::cudnn::benchmark by
/// `time(count, found, workspace)`, which runs them all on the operands. Only algorithms that give
/// equal bits in every run are good, unless the benchmark may choose others.
template <class Perf, class List, class Time>
std::optional<Choice<Perf>> choose(const Context& context, const Tensor& like, const Problem& p,
                                   List list, Time time) {
  static std::mutex mutex;
  static std::map<Key, std::optional<Choice<Perf>>> chosen;
  // What runs during a capture cannot be timed.
  const bool timed = backends::cudnn::benchmark && !is_current_stream_capturing(like.device());
  const bool any_order = timed && !backends::cudnn::deterministic;
  Key key = p.key();
  for (const bool part : {timed, any_order}) key.push_back(part);
  key.push_back(context.device);
  const std::lock_guard lock(mutex);
  const auto known = chosen.find(key);
  if (known != chosen.end()) return known->second;
  constexpr int kMost = 16;
  Perf found[kMost];
  int count = 0;
  cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
  if (timed) {
    const Scratch workspace(like.device(), kTimingWorkspace);
    status = time(kMost, &count, found, workspace.as<void>());
  } else {
    status = list(kMost, &count, found);
  }
  std::optional<Choice<Perf>> choice;
  if (status == CUDNN_STATUS_SUCCESS)
    for (int i = 0; i < count && !choice; ++i)
      if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= kMaxWorkspace &&
          (any_order || found[i].determinism == CUDNN_DETERMINISTIC))
        choice = Choice<Perf>{found[i].algo, found[i].memory, found[i].mathType};
  if (chosen.size() > 4096) chosen.clear();
  return chosen[key] = choice;
}

}  // namespace

bool cudnn_conv(const Context& context, const Tensor& out, const Tensor& in, const Tensor& weight,
                const ConvGeometry& geometry) {
  const Library* l = library();
  if (!l) return false;
  Problem p(*l, in, out, weight, geometry);
  const CudnnHandle handle(context);
  if (!p.ok() || !handle.get()) return false;
  const auto choice = choose<cudnnConvolutionFwdAlgoPerf_t>(
      context, in, p,
      [&](int most, int* count, cudnnConvolutionFwdAlgoPerf_t* found) {
        return l->forward_algorithms(handle.get(), p.in(), p.weight(), p.conv(), p.out(), most,
                                     count, found);
      },
      [&](int most, int* count, cudnnConvolutionFwdAlgoPerf_t* found, void* workspace) {
        return l->time_forward(handle.get(), p.in(), in.data_ptr(), p.weight(), weight.data_ptr(),
                               p.conv(), p.out(), out.data_ptr(), most, count, found, workspace,
                               kTimingWorkspace);
      });
  if (!choice || !p.use(choice->math)) return false;
  const Scratch workspace(in.device(), static_cast<int64_t>(choice->memory));
  return l->forward(handle.get(), p.number(true), p.in(), in.data_ptr(), p.weight(),
                    weight.data_ptr(), p.conv(), choice->algorithm, workspace.as<void>(),
                    choice->memory, p.number(false), p.out(),
                    out.data_ptr()) == CUDNN_STATUS_SUCCESS;
}

bool cudnn_conv_input_grad(const Context& context, const Tensor& grad_in, const Tensor& grad_out,
                           const Tensor& weight, const ConvGeometry& geometry) {
  const Library* l = library();
  if (!l) return false;
  Problem p(*l, grad_in, grad_out, weight, geometry);
  const CudnnHandle handle(context);
  if (!p.ok() || !handle.get()) return false;
  const auto choice = choose<cudnnConvolutionBwdDataAlgoPerf_t>(
      context, grad_in, p,
      [&](int most, int* count, cudnnConvolutionBwdDataAlgoPerf_t* found) {
        return l->data_algorithms(handle.get(), p.weight(), p.out(), p.conv(), p.in(), most, count,
                                  found);
      },
      [&](int most, int* count, cudnnConvolutionBwdDataAlgoPerf_t* found, void* workspace) {
        return l->time_data(handle.get(), p.weight(), weight.data_ptr(), p.out(),
                            grad_out.data_ptr(), p.conv(), p.in(), grad_in.data_ptr(), most, count,
                            found, workspace, kTimingWorkspace);
      });
  if (!choice || !p.use(choice->math)) return false;
  const Scratch workspace(grad_in.device(), static_cast<int64_t>(choice->memory));
  return l->backward_data(handle.get(), p.number(true), p.weight(), weight.data_ptr(), p.out(),
                          grad_out.data_ptr(), p.conv(), choice->algorithm, workspace.as<void>(),
                          choice->memory, p.number(false), p.in(),
                          grad_in.data_ptr()) == CUDNN_STATUS_SUCCESS;
}

bool cudnn_conv_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                            const Tensor& grad_out, const ConvGeometry& geometry) {
  const Library* l = library();
  if (!l) return false;
  Problem p(*l, in, grad_out, grad_weight, geometry);
  const CudnnHandle handle(context);
  if (!p.ok() || !handle.get()) return false;
  const auto choice = choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
      context, in, p,
      [&](int most, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
        return l->filter_algorithms(handle.get(), p.in(), p.out(), p.conv(), p.weight(), most,
                                    count, found);
      },
      [&](int most, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found, void* workspace) {
        return l->time_filter(handle.get(), p.in(), in.data_ptr(), p.out(), grad_out.data_ptr(),
                              p.conv(), p.weight(), grad_weight.data_ptr(), most, count, found,
                              workspace, kTimingWorkspace);
      });
  if (!choice || !p.use(choice->math)) return false;
  const Scratch workspace(in.device(), static_cast<int64_t>(choice->memory));
  return l->backward_filter(handle.get(), p.number(true), p.in(), in.data_ptr(), p.out(),
                            grad_out.data_ptr(), p.conv(), choice->algorithm, workspace.as<void>(),
                            choice->memory, p.number(false), p.weight(),
                            grad_weight.data_ptr()) == CUDNN_STATUS_SUCCESS;
}

#else

bool cudnn_usable() { return false; }

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

}  // namespace taeda::gpu
