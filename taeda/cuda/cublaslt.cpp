// cuBLASLt sees columns where we see rows: a row-major out = a b is its out^T = b^T a^T.
#include "taeda/cuda/cublaslt.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "taeda/cuda/shared_library.h"
#include "taeda/device/backends.h"
#include "taeda/device/graph.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cublasLt.h>)

namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

/// The functions used, by the version that the headers are of.
struct Library {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;

  bool load() {
    const std::string file = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
    const SharedLibrary library{file.c_str()};
    return library.load(create, "cublasLtCreate") && library.load(matmul, "cublasLtMatmul") &&
           library.load(desc_create, "cublasLtMatmulDescCreate") &&
           library.load(desc_destroy, "cublasLtMatmulDescDestroy") &&
           library.load(desc_set, "cublasLtMatmulDescSetAttribute") &&
           library.load(layout_create, "cublasLtMatrixLayoutCreate") &&
           library.load(layout_destroy, "cublasLtMatrixLayoutDestroy") &&
           library.load(layout_set, "cublasLtMatrixLayoutSetAttribute") &&
           library.load(preference_create, "cublasLtMatmulPreferenceCreate") &&
           library.load(preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
           library.load(preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
           library.load(heuristic, "cublasLtMatmulAlgoGetHeuristic");
  }
};

/// The loaded library, or null.
const Library* library() {
  static const std::unique_ptr<Library> loaded = [] {
    const char* text = std::getenv("TAEDA_CUDA_BLAS");
    auto l = std::make_unique<Library>();
    if ((text && std::strcmp(text, "0") == 0) || !l->load()) l.reset();
    return l;
  }();
  return loaded.get();
}

/// The device's handle, or null.
cublasLtHandle_t handle_of(const Library& l, int device) {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = handles.try_emplace(device, nullptr);
  if (is_new && l.create(&found->second) != CUBLAS_STATUS_SUCCESS) found->second = nullptr;
  return found->second;
}

/// A matrix as cuBLASLt takes it. `flipped`: our columns are contiguous, not our rows.
struct Plain {
  const void* data = nullptr;
  int64_t rows = 0, columns = 0, leading = 0, batch = 0;
  bool flipped = false;
};

std::optional<Plain> plain(const Tensor& t) {
  const IntArrayRef size = t.sizes(), stride = t.strides();
  const size_t j = size.size() - 1, i = j - 1;
  Plain p{t.data_ptr(), size[i], size[j], 0, j == 2 ? stride[0] : 0, false};
  // The stride of a dimension of size 1 means nothing.
  const int64_t row = size[i] == 1 ? std::max<int64_t>(stride[i], size[j]) : stride[i];
  const int64_t column = size[j] == 1 ? std::max<int64_t>(stride[j], size[i]) : stride[j];
  if ((stride[j] == 1 || size[j] == 1) && row >= std::max<int64_t>(size[j], 1)) {
    p.leading = row;
  } else if ((stride[i] == 1 || size[i] == 1) && column >= std::max<int64_t>(size[i], 1)) {
    p.leading = column;
    p.flipped = true;
  } else {
    return std::nullopt;
  }
  return p;
}

/// A vector that is added to every row, which the library's epilogue does.
bool is_row_vector(const Tensor& t) {
  const IntArrayRef size = t.sizes(), stride = t.strides();
  return t.dim() == 2 && stride[0] == 0 && size[0] > 1 && (stride[1] == 1 || size[1] == 1);
}

/// The largest power of two, 256 at most, that an address is a multiple of.
uint32_t alignment(const void* p) {
  uint32_t a = 256;
  while (reinterpret_cast<uintptr_t>(p) % a != 0) a /= 2;
  return a;
}

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

std::optional<Types> types_of(ScalarType t) {
  switch (t) {
    case kFloat:
      return Types{
          CUDA_R_32F, CUDA_R_32F,
          backends::cuda::matmul::allow_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case kDouble: return Types{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kHalf: return Types{CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16: return Types{CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kComplexFloat: return Types{CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    case kComplexDouble: return Types{CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default: return std::nullopt;
  }
}

/// A product in the library's words. Frees what it made.
class Call {
 public:
  Call(const Library& l, const Types& types) : l_(l), types_(types) {
    ok_ = l_.desc_create(&desc_, types.compute, types.scale) == CUBLAS_STATUS_SUCCESS;
  }
  ~Call() {
    if (preference_) l_.preference_destroy(preference_);
    for (cublasLtMatrixLayout_t layout : layouts_) l_.layout_destroy(layout);
    if (desc_) l_.desc_destroy(desc_);
  }
  Call(const Call&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    ok_ = ok_ && l_.desc_set(desc_, attribute, &value, sizeof(T)) == CUBLAS_STATUS_SUCCESS;
  }
  /// `p` transposed, which is how the library sees our rows.
  cublasLtMatrixLayout_t layout(const Plain& p, int64_t batches) {
    cublasLtMatrixLayout_t out = nullptr;
    const auto rows = static_cast<uint64_t>(p.flipped ? p.rows : p.columns),
               columns = static_cast<uint64_t>(p.flipped ? p.columns : p.rows);
    ok_ = ok_ &&
          l_.layout_create(&out, types_.data, rows, columns, p.leading) == CUBLAS_STATUS_SUCCESS;
    if (!ok_) return nullptr;
    layouts_.push_back(out);
    const auto count = static_cast<int32_t>(batches);
    const auto put = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
      ok_ = ok_ && l_.layout_set(out, attribute, &value, sizeof(value)) == CUBLAS_STATUS_SUCCESS;
    };
    put(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    put(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, p.batch);
    return out;
  }
  cublasLtMatmulPreference_t preference(const Plain& a, const Plain& b, const Plain& c,
                                        const Plain& d) {
    ok_ = ok_ && l_.preference_create(&preference_) == CUBLAS_STATUS_SUCCESS;
    const auto put = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      ok_ = ok_ && l_.preference_set(preference_, attribute, &value, sizeof(value)) ==
                       CUBLAS_STATUS_SUCCESS;
    };
    put(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspace});
    put(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(a.data));
    put(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(b.data));
    put(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(c.data));
    put(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(d.data));
    return preference_;
  }
  cublasLtMatmulDesc_t desc() const { return desc_; }
  bool ok() const { return ok_; }

 private:
  const Library& l_;
  Types types_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  std::vector<cublasLtMatrixLayout_t> layouts_;
  bool ok_ = false;
};

/// Everything that the choice of an algorithm depends on.
using Key = std::vector<int64_t>;

Key key_of(int device, const Types& types, const void* bias, bool adds, int64_t batches,
           std::initializer_list<const Plain*> operands) {
  Key key{device, types.data, types.compute, bias ? alignment(bias) : 0, adds, batches};
  for (const Plain* p : operands)
    for (int64_t x : {p->rows, p->columns, p->leading, p->batch, int64_t{p->flipped},
                      int64_t{alignment(p->data)}})
      key.push_back(x);
  return key;
}

/// The remembered algorithm of a product, or what `choose` gives.
template <class Choose>
std::optional<cublasLtMatmulAlgo_t> algorithm_of(const Key& key, Choose choose) {
  static std::mutex mutex;
  static std::map<Key, std::optional<cublasLtMatmulAlgo_t>> chosen;
  const std::lock_guard lock(mutex);
  const auto found = chosen.find(key);
  if (found != chosen.end()) return found->second;
  if (chosen.size() > 4096) chosen.clear();
  return chosen[key] = choose();
}

/// Numbers of the type that scaling is done in.
struct Scales {
  alignas(16) char alpha[16] = {}, beta[16] = {};
  Scales(cudaDataType_t type, const Scalar& a, const Scalar& b) {
    const auto put = [&]<class T>(T) {
      const T x = a.to<T>(), y = b.to<T>();
      std::memcpy(alpha, static_cast<const void*>(&x), sizeof(T));
      std::memcpy(beta, static_cast<const void*>(&y), sizeof(T));
    };
    if (type == CUDA_R_64F)
      put(double());
    else if (type == CUDA_C_32F)
      put(complex<float>());
    else if (type == CUDA_C_64F)
      put(complex<double>());
    else
      put(float());
  }
};

cublasOperation_t operation(const Plain& p) { return p.flipped ? CUBLAS_OP_T : CUBLAS_OP_N; }

/// A bias where the library may load 16 bytes of it at once: there is no preference that tells the
/// heuristic of a lesser alignment.
class AlignedBias {
 public:
  AlignedBias(const Context& context, const Tensor& bias) : data_(bias.data_ptr()) {
    if (alignment(data_) >= 16) return;
    const int64_t bytes = bias.size(-1) * bias.element_size();
    copy_.emplace(bias.device(), bytes);
    check(cudaMemcpyAsync(copy_->as<void>(), data_, static_cast<size_t>(bytes),
                          cudaMemcpyDeviceToDevice, context.stream),
          "addmm");
    data_ = copy_->as<void>();
  }
  const void* data() const { return data_; }

 private:
  std::optional<Scratch> copy_;
  const void* data_;
};

}  // namespace

bool cublaslt_matmul(const Context& context, const Tensor& out, const Tensor& a, const Tensor& b,
                     const Tensor& addend, const Scalar& beta, const Scalar& alpha) {
  const Library* l = library();
  const std::optional<Types> types = types_of(out.dtype());
  if (!l || !types || a.size(-1) == 0) return false;
  const bool adds = addend.defined(), bias = adds && is_row_vector(addend) && beta.equal(1);
  std::optional<Plain> left = plain(a), right = plain(b), result = plain(out);
  std::optional<Plain> c = adds && !bias ? plain(addend) : result;
  if (!left || !right || !result || !c || result->flipped || c->flipped) return false;
  const int64_t batches = out.dim() == 3 ? out.size(0) : 1;
  std::optional<RelaxedCapture> relaxed;  // the library loads kernels when they are first chosen
  if (captures_under_way() > 0) relaxed.emplace();
  const cublasLtHandle_t handle = handle_of(*l, context.device);
  if (!handle || batches > INT32_MAX) return false;

  std::optional<AlignedBias> row;
  if (bias) row.emplace(context, addend);
  const void* const row_data = row ? row->data() : nullptr;
  Call call(*l, *types);
  call.set(CUBLASLT_MATMUL_DESC_TRANSA, operation(*right));
  call.set(CUBLASLT_MATMUL_DESC_TRANSB, operation(*left));
  if (bias) {
    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    call.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, row_data);
  }
  const auto la = call.layout(*right, batches), lb = call.layout(*left, batches),
             lc = call.layout(*c, batches), ld = call.layout(*result, batches);
  const auto preference = call.preference(*right, *left, *c, *result);
  if (!call.ok()) return false;
  const auto algorithm = algorithm_of(
      key_of(context.device, *types, row_data, adds, batches, {&*left, &*right, &*c, &*result}),
      [&]() -> std::optional<cublasLtMatmulAlgo_t> {
        cublasLtMatmulHeuristicResult_t found{};
        int count = 0;
        if (l->heuristic(handle, call.desc(), la, lb, lc, ld, preference, 1, &found, &count) !=
                CUBLAS_STATUS_SUCCESS ||
            count == 0)
          return std::nullopt;
        return found.algo;
      });
  if (!algorithm) return false;
  const Scales scales(types->scale, alpha, adds && !bias ? beta : Scalar(0));
  const Scratch workspace(out.device(), kWorkspace + 256);
  const auto address = (reinterpret_cast<uintptr_t>(workspace.as<void>()) + 255) / 256 * 256;
  return l->matmul(handle, call.desc(), scales.alpha, right->data, la, left->data, lb, scales.beta,
                   c->data, lc, out.data_ptr(), ld, &*algorithm, reinterpret_cast<void*>(address),
                   kWorkspace, context.stream) == CUBLAS_STATUS_SUCCESS;
}

#else

bool cublaslt_matmul(const Context&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                     const Scalar&, const Scalar&) {
  return false;
}

#endif

}  // namespace taeda::gpu
