// Note [Networks by cuDNN]
// A network's weights lie in one block in the library's own order. They are packed into it for each
// forward: one launch, and a hundredth of the network's time. Gradients of weights are added to
// such a block and taken out of it. All sequences have one length, so data that is [T, N, ...]
// contiguous is what the library calls packed. Its standard algorithm is used throughout. Dropout
// is not the library's: networks with dropout come here layer by layer, and the masks between them
// are the same as on every other device.
#include "taeda/cuda/cudnn_rnn.h"

#include "taeda/cuda/cudnn_library.h"

#if __has_include(<cudnn.h>)
#include <cstdlib>
#include <memory>
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cudnn.h>)

namespace {

struct Functions {
  decltype(&cudnnGetErrorString) error_text;
  decltype(&cudnnCreateTensorDescriptor) tensor_create;
  decltype(&cudnnDestroyTensorDescriptor) tensor_destroy;
  decltype(&cudnnSetTensorNdDescriptor) tensor_set;
  decltype(&cudnnGetTensorNdDescriptor) tensor_get;
  decltype(&cudnnCreateDropoutDescriptor) dropout_create;
  decltype(&cudnnDestroyDropoutDescriptor) dropout_destroy;
  decltype(&cudnnSetDropoutDescriptor) dropout_set;
  decltype(&cudnnCreateRNNDescriptor) rnn_create;
  decltype(&cudnnDestroyRNNDescriptor) rnn_destroy;
  decltype(&cudnnSetRNNDescriptor_v8) rnn_set;
  decltype(&cudnnCreateRNNDataDescriptor) data_create;
  decltype(&cudnnDestroyRNNDataDescriptor) data_destroy;
  decltype(&cudnnSetRNNDataDescriptor) data_set;
  decltype(&cudnnGetRNNTempSpaceSizes) temp_sizes;
  decltype(&cudnnGetRNNWeightSpaceSize) weight_size;
  decltype(&cudnnGetRNNWeightParams) weight_params;
  decltype(&cudnnRNNForward) forward;
  decltype(&cudnnRNNBackwardData_v8) backward_data;
  decltype(&cudnnRNNBackwardWeights_v8) backward_weights;

  bool load() {
    const auto find = [](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(cudnn_symbol(name));
      return function != nullptr;
    };
    return find(error_text, "cudnnGetErrorString") &&
           find(tensor_create, "cudnnCreateTensorDescriptor") &&
           find(tensor_destroy, "cudnnDestroyTensorDescriptor") &&
           find(tensor_set, "cudnnSetTensorNdDescriptor") &&
           find(tensor_get, "cudnnGetTensorNdDescriptor") &&
           find(dropout_create, "cudnnCreateDropoutDescriptor") &&
           find(dropout_destroy, "cudnnDestroyDropoutDescriptor") &&
           find(dropout_set, "cudnnSetDropoutDescriptor") &&
           find(rnn_create, "cudnnCreateRNNDescriptor") &&
           find(rnn_destroy, "cudnnDestroyRNNDescriptor") &&
           find(rnn_set, "cudnnSetRNNDescriptor_v8") &&
           find(data_create, "cudnnCreateRNNDataDescriptor") &&
           find(data_destroy, "cudnnDestroyRNNDataDescriptor") &&
           find(data_set, "cudnnSetRNNDataDescriptor") &&
           find(temp_sizes, "cudnnGetRNNTempSpaceSizes") &&
           find(weight_size, "cudnnGetRNNWeightSpaceSize") &&
           find(weight_params, "cudnnGetRNNWeightParams") && find(forward, "cudnnRNNForward") &&
           find(backward_data, "cudnnRNNBackwardData_v8") &&
           find(backward_weights, "cudnnRNNBackwardWeights_v8");
  }
};

const Functions* functions() {
  static const std::unique_ptr<Functions> loaded = [] {
    auto f = std::make_unique<Functions>();
    if (!f->load()) f.reset();
    return f;
  }();
  return loaded.get();
}

constexpr const char* kModes[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};

void check_call(cudnnStatus_t status, const char* call, const Tensor& x, const RnnShape& s) {
  TAEDA_CHECK(status == CUDNN_STATUS_SUCCESS, call, " failed with ",
              functions()->error_text(status), " for ", kModes[static_cast<int>(s.mode)],
              " of input ", x.sizes(), " (", x.dtype(), "), hidden size ", s.hidden, ", ", s.layers,
              " layers", s.bidirectional ? ", bidirectional" : "");
}

int directions(const RnnShape& s) { return s.bidirectional ? 2 : 1; }

/// Where a gate's part of a weight or bias lies in it, and in the packed weights; in elements.
struct GatePart {
  size_t param;
  int64_t from, packed, count;
};

/// A network in the library's words. Kept for good; one thread uses it at a time.
struct Network {
  std::mutex mutex;
  cudnnRNNDescriptor_t rnn = nullptr;
  cudnnDropoutDescriptor_t dropout = nullptr;
  size_t weight_bytes = 0;
  std::vector<GatePart> parts;  // filled when the first weights are packed
  bool valid = false;

  Network(const Functions& f, cudnnHandle_t handle, const RnnShape& s, ScalarType dtype,
          cudnnMathType_t math) {
    static constexpr cudnnRNNMode_t kCells[] = {CUDNN_RNN_RELU, CUDNN_RNN_TANH, CUDNN_LSTM,
                                                CUDNN_GRU};
    const cudnnDataType_t type = *cudnn_type(dtype);
    valid =
        f.dropout_create(&dropout) == CUDNN_STATUS_SUCCESS &&
        f.dropout_set(dropout, handle, 0, nullptr, 0, 0) == CUDNN_STATUS_SUCCESS &&
        f.rnn_create(&rnn) == CUDNN_STATUS_SUCCESS &&
        f.rnn_set(rnn, CUDNN_RNN_ALGO_STANDARD, kCells[static_cast<int>(s.mode)],
                  s.biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
                  s.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
                  type, dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, math,
                  static_cast<int32_t>(s.input), static_cast<int32_t>(s.hidden),
                  static_cast<int32_t>(s.hidden), static_cast<int32_t>(s.layers), dropout,
                  CUDNN_RNN_PADDED_IO_DISABLED) == CUDNN_STATUS_SUCCESS &&
        f.weight_size(handle, rnn, &weight_bytes) == CUDNN_STATUS_SUCCESS;
  }
};

/// The network of these operands, which is made when it is first asked for; null where the library
/// does not take it.
Network* network_of(const Functions& f, cudnnHandle_t handle, const Context& context,
                    const RnnShape& s, ScalarType dtype) {
  // The library's default allows TF32 for float.
  const auto math = is_reduced_floating(dtype)    ? CUDNN_TENSOR_OP_MATH
                    : backends::cudnn::allow_tf32 ? CUDNN_DEFAULT_MATH
                                                  : CUDNN_FMA_MATH;
  const std::vector<int64_t> key{context.device,
                                 static_cast<int64_t>(dtype),
                                 static_cast<int64_t>(math),
                                 static_cast<int64_t>(s.mode),
                                 s.input,
                                 s.hidden,
                                 s.layers,
                                 s.bidirectional,
                                 s.biases};
  static std::mutex mutex;
  static std::map<std::vector<int64_t>, std::unique_ptr<Network>> networks;
  const std::lock_guard lock(mutex);
  const RelaxedCapture relaxed;  // the library may take memory for a new network
  std::unique_ptr<Network>& n = networks[key];
  if (!n) n = std::make_unique<Network>(f, handle, s, dtype, math);
  return n->valid ? n.get() : nullptr;
}

/// Descriptors of input, output and states for one call. Frees what it made.
class Descriptors {
 public:
  Descriptors(const Functions& f, const RnnShape& s, const Tensor& x) : f_(f) {
    const int steps = static_cast<int>(x.size(0)), batch = static_cast<int>(x.size(1)),
              hidden = static_cast<int>(s.hidden);
    const std::vector<int> lengths(static_cast<size_t>(batch), steps);
    const cudnnDataType_t type = *cudnn_type(x.dtype());
    const int sizes[] = {static_cast<int>(s.layers) * directions(s), batch, hidden},
              strides[] = {batch * hidden, hidden, 1};
    const auto set = [&](cudnnRNNDataDescriptor_t& data, int width) {
      return f.data_create(&data) == CUDNN_STATUS_SUCCESS &&
             f.data_set(data, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, batch, width,
                        lengths.data(), nullptr) == CUDNN_STATUS_SUCCESS;
    };
    ok_ = set(x_, static_cast<int>(s.input)) && set(y_, directions(s) * hidden) &&
          f.tensor_create(&state_) == CUDNN_STATUS_SUCCESS &&
          f.tensor_set(state_, type, 3, sizes, strides) == CUDNN_STATUS_SUCCESS;
  }
  ~Descriptors() {
    for (cudnnRNNDataDescriptor_t d : {x_, y_})
      if (d) f_.data_destroy(d);
    if (state_) f_.tensor_destroy(state_);
  }
  Descriptors(const Descriptors&) = delete;
  bool ok() const { return ok_; }
  cudnnRNNDataDescriptor_t x() const { return x_; }
  cudnnRNNDataDescriptor_t y() const { return y_; }
  cudnnTensorDescriptor_t state() const { return state_; }

 private:
  const Functions& f_;
  cudnnRNNDataDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnTensorDescriptor_t state_ = nullptr;
  bool ok_ = false;
};

void* data_of(const Tensor& t) { return t.defined() ? t.data_ptr() : nullptr; }

/// Everything that a call needs; a failure is an error, as the network was taken before.
struct Call {
  const Functions& f;
  const Tensor& x;
  const RnnShape& shape;
  const cudnnForwardMode_t mode;
  const Context context;
  const CudnnHandle handle;
  const Descriptors descriptors;
  Network* network = nullptr;
  std::unique_lock<std::mutex> lock;
  size_t work = 0, reserve = 0;

  Call(const Tensor& input, const RnnShape& s, bool training)
      : f(*functions()),
        x(input),
        shape(s),
        mode(training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE),
        context(input.device()),
        handle(context),
        descriptors(f, s, input) {
    run(handle.get() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED, "cudnnCreate");
    run(descriptors.ok() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM,
        "cudnnSetRNNDataDescriptor");
    network = network_of(f, handle.get(), context, s, x.dtype());
    run(network ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED, "cudnnSetRNNDescriptor_v8");
    lock = std::unique_lock(network->mutex);
    run(f.temp_sizes(handle.get(), network->rnn, mode, descriptors.x(), &work, &reserve),
        "cudnnGetRNNTempSpaceSizes");
  }
  void run(cudnnStatus_t status, const char* call) const { check_call(status, call, x, shape); }
};

/// Elements that a descriptor says.
int64_t count_of(const Functions& f, cudnnTensorDescriptor_t t) {
  cudnnDataType_t type;
  int ndim = 0, sizes[3] = {}, strides[3] = {};
  if (f.tensor_get(t, 3, &type, &ndim, sizes, strides) != CUDNN_STATUS_SUCCESS) return -1;
  int64_t count = 1;
  for (int d = 0; d < ndim && d < 3; ++d) count *= sizes[d];
  return count;
}

/// Asks the library where the parts of all weights lie.
void find_parts(const Call& c, const RnnShape& s, const Tensor& packed) {
  if (!c.network->parts.empty()) return;
  const int64_t gates = rnn_gates(s.mode), each = s.biases ? 4 : 2;
  cudnnTensorDescriptor_t matrix = nullptr, bias = nullptr;
  c.run(c.f.tensor_create(&matrix), "cudnnCreateTensorDescriptor");
  const std::unique_ptr<cudnnTensorStruct, decltype(c.f.tensor_destroy)> own_matrix(
      matrix, c.f.tensor_destroy);
  c.run(c.f.tensor_create(&bias), "cudnnCreateTensorDescriptor");
  const std::unique_ptr<cudnnTensorStruct, decltype(c.f.tensor_destroy)> own_bias(
      bias, c.f.tensor_destroy);
  const char* base = static_cast<const char*>(packed.data_ptr());
  std::vector<GatePart> parts;
  const auto add = [&](int64_t param, int64_t gate, int64_t count, cudnnTensorDescriptor_t t,
                       const void* at) {
    const int64_t place = (static_cast<const char*>(at) - base) / packed.element_size();
    c.run(at && count_of(c.f, t) == count && place >= 0 && place + count <= packed.numel()
              ? CUDNN_STATUS_SUCCESS
              : CUDNN_STATUS_INTERNAL_ERROR,
          "cudnnGetRNNWeightParams");
    parts.push_back({static_cast<size_t>(param), gate * count, place, count});
  };
  for (int64_t i = 0; i < s.layers * directions(s); ++i) {
    const int64_t input = i < directions(s) ? s.input : directions(s) * s.hidden;
    for (int64_t j = 0; j < 2 * gates; ++j) {
      const int64_t recurrent = j / gates, gate = j % gates;
      void *m = nullptr, *b = nullptr;
      c.run(c.f.weight_params(c.handle.get(), c.network->rnn, static_cast<int32_t>(i),
                              c.network->weight_bytes, packed.data_ptr(), static_cast<int32_t>(j),
                              matrix, &m, bias, &b),
            "cudnnGetRNNWeightParams");
      add(i * each + recurrent, gate, s.hidden * (recurrent ? s.hidden : input), matrix, m);
      if (s.biases) add(i * each + 2 + recurrent, gate, s.hidden, bias, b);
    }
  }
  c.network->parts = std::move(parts);
}

/// Copies all params into packed weights, or out of them.
void move_weights(const Call& c, char* packed, TensorList params, bool pack) {
  const int64_t item = params[0].element_size();
  std::vector<Piece> pieces;
  for (const GatePart& p : c.network->parts) {
    char* param = static_cast<char*>(params[p.param].data_ptr()) + p.from * item;
    char* place = packed + p.packed * item;
    const Piece piece = pack ? Piece{param, place, p.count} : Piece{place, param, p.count};
    Piece* last = pieces.empty() ? nullptr : &pieces.back();
    if (last && last->from + last->count * item == piece.from &&
        last->to + last->count * item == piece.to)
      last->count += piece.count;
    else
      pieces.push_back(piece);
  }
  copy_pieces(c.context, pieces, item);
}

bool fits_int32(const Tensor& x, const RnnShape& s) {
  const int64_t wide = std::max(x.size(2), 2 * s.hidden);
  return x.size(0) * x.size(1) <= INT32_MAX / std::max<int64_t>(wide, 1) &&
         s.layers * 2 * x.size(1) <= INT32_MAX / std::max<int64_t>(s.hidden, 1);
}

}  // namespace

void cudnn_rnn_space(const Tensor& x, const RnnShape& shape, bool training, RnnSpace* space) {
  space->taken = false;
  if (!cudnn_usable() || !functions() || !cudnn_type(x.dtype()) || !fits_int32(x, shape)) return;
  if (shape.input == 0 || shape.hidden == 0) return;
  if (backends::cudnn::deterministic && !std::getenv("CUBLAS_WORKSPACE_CONFIG")) return;
  const Functions& f = *functions();
  const Context context(x.device());
  const CudnnHandle handle(context);
  if (!handle.get()) return;
  Network* network = network_of(f, handle.get(), context, shape, x.dtype());
  const Descriptors descriptors(f, shape, x);
  if (!network || !descriptors.ok()) return;
  const std::lock_guard lock(network->mutex);
  size_t work = 0, reserve = 0;
  const auto mode = training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
  if (f.temp_sizes(handle.get(), network->rnn, mode, descriptors.x(), &work, &reserve) !=
      CUDNN_STATUS_SUCCESS)
    return;
  const auto item = static_cast<size_t>(x.element_size());
  *space = {true, static_cast<int64_t>((network->weight_bytes + item - 1) / item),
            static_cast<int64_t>(reserve)};
}

void cudnn_rnn(const Tensor& y, const Tensor& hy, const Tensor& cy, const Tensor& packed,
               const Tensor& reserve, const Tensor& x, const Tensor& hx, const Tensor& cx,
               TensorList params, const RnnShape& shape) {
  const Call c(x, shape, reserve.defined());
  find_parts(c, shape, packed);
  move_weights(c, static_cast<char*>(packed.data_ptr()), params, true);
  const Scratch work(x.device(), static_cast<int64_t>(c.work));
  c.run(c.f.forward(c.handle.get(), c.network->rnn, c.mode, nullptr, c.descriptors.x(),
                    x.data_ptr(), c.descriptors.y(), y.data_ptr(), c.descriptors.state(),
                    hx.data_ptr(), hy.data_ptr(), cx.defined() ? c.descriptors.state() : nullptr,
                    data_of(cx), data_of(cy), c.network->weight_bytes, packed.data_ptr(), c.work,
                    work.as<void>(), reserve.defined() ? c.reserve : 0, data_of(reserve)),
        "cudnnRNNForward");
}

void cudnn_rnn_backward(const Tensor& grad_x, const Tensor& grad_hx, const Tensor& grad_cx,
                        TensorList grad_params, const Tensor& packed, const Tensor& reserve,
                        const Tensor& y, const Tensor& grad_y, const Tensor& grad_hy,
                        const Tensor& grad_cy, const Tensor& x, const Tensor& hx, const Tensor& cx,
                        const RnnShape& shape) {
  const Call c(x, shape, true);
  TAEDA_CHECK(c.network->weight_bytes <= static_cast<size_t>(packed.nbytes()) &&
                  c.reserve <= static_cast<size_t>(reserve.nbytes()),
              "the switches of cuDNN were changed between forward and backward of a network");
  find_parts(c, shape, packed);
  const Scratch work(x.device(), static_cast<int64_t>(c.work));
  c.run(
      c.f.backward_data(c.handle.get(), c.network->rnn, nullptr, c.descriptors.y(), y.data_ptr(),
                        grad_y.data_ptr(), c.descriptors.x(), grad_x.data_ptr(),
                        c.descriptors.state(), hx.data_ptr(), data_of(grad_hy), grad_hx.data_ptr(),
                        cx.defined() ? c.descriptors.state() : nullptr, data_of(cx),
                        data_of(grad_cy), data_of(grad_cx), c.network->weight_bytes,
                        packed.data_ptr(), c.work, work.as<void>(), c.reserve, reserve.data_ptr()),
      "cudnnRNNBackwardData_v8");
  if (grad_params.empty()) return;
  const Scratch grads(x.device(), static_cast<int64_t>(c.network->weight_bytes));
  check(cudaMemsetAsync(grads.as<void>(), 0, c.network->weight_bytes, c.context.stream),
        "cudaMemsetAsync");
  c.run(c.f.backward_weights(c.handle.get(), c.network->rnn, CUDNN_WGRAD_MODE_ADD, nullptr,
                             c.descriptors.x(), x.data_ptr(), c.descriptors.state(), hx.data_ptr(),
                             c.descriptors.y(), y.data_ptr(), c.network->weight_bytes,
                             grads.as<void>(), c.work, work.as<void>(), c.reserve,
                             reserve.data_ptr()),
        "cudnnRNNBackwardWeights_v8");
  move_weights(c, grads.as<char>(), grad_params, false);
}

#else

void cudnn_rnn_space(const Tensor&, const RnnShape&, bool, RnnSpace* space) {
  space->taken = false;
}
void cudnn_rnn(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
               const Tensor&, const Tensor&, const Tensor&, TensorList, const RnnShape&) {
  throw NotImplementedError("cudnn_rnn: this build has no cuDNN");
}
void cudnn_rnn_backward(const Tensor&, const Tensor&, const Tensor&, TensorList, const Tensor&,
                        const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                        const Tensor&, const Tensor&, const Tensor&, const RnnShape&) {
  throw NotImplementedError("cudnn_rnn_backward: this build has no cuDNN");
}

#endif

}  // namespace taeda::inline v0_2::gpu
