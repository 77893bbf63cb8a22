#include "taeda/cuda/cudnn_library.h"

#if __has_include(<cudnn.h>)
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "taeda/cuda/shared_library.h"
#endif

namespace taeda::inline v0_2::gpu {

#if __has_include(<cudnn.h>)

namespace {

/// The library of the version that the headers are of, and what handles take of it.
struct Library {
  SharedLibrary opened{};
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) set_stream;

  bool load() {
    const std::string file = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
    opened = SharedLibrary{file.c_str()};
    return opened.load(create, "cudnnCreate") && opened.load(set_stream, "cudnnSetStream");
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

}  // namespace

bool cudnn_usable() { return backends::cudnn::enabled && loaded_library(); }

void* cudnn_symbol(const char* name) {
  const Library* l = loaded_library();
  return l ? l->opened.symbol(name) : nullptr;
}

const GraphFunctions* cudnn_graphs() {
  static const std::unique_ptr<GraphFunctions> loaded = [] {
    auto f = std::make_unique<GraphFunctions>();
    if (!f->load(&cudnn_symbol)) f.reset();
    return f;
  }();
  return cudnn_usable() ? loaded.get() : nullptr;
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

#else

bool cudnn_usable() { return false; }

#endif

}  // namespace taeda::inline v0_2::gpu
