// ONNX Runtime through its C interface, from a library that is loaded when somebody asks for it.
//
// PyPI's package has the library and no header. What is called here is of version 1 of the
// interface: one table of functions, whose places ONNX Runtime promises never to change (its own
// build fails if they do), and which every later version still gives to those who ask for 1.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace onnx_runtime {

/// Memory of the program that a model reads or writes.
struct Buffer {
  std::string name;
  void* data;
  std::vector<int64_t> shape;
  bool integers = false;  ///< int64 instead of float
};

/// The path of the library: `given` itself, or that in the package of a Python interpreter.
inline std::string library_of(const std::string& given) {
  if (given.find(".so") != std::string::npos) return given;
  const std::string command =
      "'" + given +
      "' -c 'import glob, onnxruntime as o; "
      "print(glob.glob(o.__path__[0] + \"/capi/libonnxruntime.so*\")[0], end=\"\")'";
  std::string path;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start " + given);
  for (int c; (c = std::fgetc(pipe)) != EOF;) path += static_cast<char>(c);
  if (pclose(pipe) != 0) throw std::runtime_error(given + " has no onnxruntime with its library");
  return path;
}

/// The library and an environment in it, for as long as the program runs.
class Runtime {
 public:
  explicit Runtime(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    struct Base {
      const void* const* (*table)(uint32_t version);
      const char* (*version)();
    };
    const auto base = reinterpret_cast<const Base* (*)()>(dlsym(library, "OrtGetApiBase"));
    if (!base) throw std::runtime_error(path + " is not ONNX Runtime");
    version_ = base()->version();
    table_ = base()->table(1);
    if (!table_) throw std::runtime_error("ONNX Runtime " + version_ + " refuses version 1");
    call<int, const char*, void**>(kCreateEnv, 3, "latency", &environment_);
    call<int, int, void**>(kCreateCpuMemoryInfo, 0, 0, &host_);
  }
  const std::string& version() const { return version_; }

 private:
  friend class Session;
  // Places in the table.
  enum Function {
    kGetErrorMessage = 2,
    kCreateEnv = 3,
    kCreateSession = 7,
    kRun = 9,
    kCreateSessionOptions = 10,
    kSetIntraOpNumThreads = 24,
    kSetInterOpNumThreads = 25,
    kSessionGetInputCount = 30,
    kSessionGetOutputCount = 31,
    kCreateTensorWithDataAsOrtValue = 49,
    kCreateCpuMemoryInfo = 69,
    kReleaseSession = 95,
    kReleaseValue = 96,
    kReleaseSessionOptions = 100,
  };
  template <class F>
  F at(Function f) const {
    return reinterpret_cast<F>(const_cast<void*>(table_[f]));
  }
  /// Calls what gives a status; throws std::runtime_error with its message.
  template <class... A>
  void call(Function f, A... args) const {
    if (void* status = at<void* (*)(A...)>(f)(args...)) [[unlikely]]
      throw std::runtime_error(std::string("ONNX Runtime: ") +
                               at<const char* (*)(const void*)>(kGetErrorMessage)(status));
  }
  void release(Function f, void* object) const { at<void (*)(void*)>(f)(object); }

  std::string version_;
  const void* const* table_ = nullptr;
  void *environment_ = nullptr, *host_ = nullptr;
};

/// A model from a file, run on memory of the program. ONNX Runtime reads inputs and writes outputs
/// where they are.
class Session {
 public:
  Session(const Runtime& runtime, const std::string& path, int threads) : r_(runtime) {
    void* options = nullptr;
    r_.call<void**>(Runtime::kCreateSessionOptions, &options);
    r_.call<void*, int>(Runtime::kSetIntraOpNumThreads, options, threads);
    r_.call<void*, int>(Runtime::kSetInterOpNumThreads, options, 1);
    r_.call<void*, const char*, const void*, void**>(Runtime::kCreateSession, r_.environment_,
                                                     path.c_str(), options, &session_);
    r_.release(Runtime::kReleaseSessionOptions, options);
  }
  ~Session() {
    for (const Binding& b : bindings_)
      for (const auto& values : {b.inputs, b.outputs})
        for (void* value : values) r_.release(Runtime::kReleaseValue, value);
    r_.release(Runtime::kReleaseSession, session_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Memory for a run; returns the number that `run` takes. All bindings name the same inputs and
  /// outputs in the same order.
  size_t bind(const std::vector<Buffer>& inputs, const std::vector<Buffer>& outputs) {
    size_t in = 0, out = 0;
    r_.call<const void*, size_t*>(Runtime::kSessionGetInputCount, session_, &in);
    r_.call<const void*, size_t*>(Runtime::kSessionGetOutputCount, session_, &out);
    if (in != inputs.size() || out != outputs.size())
      throw std::runtime_error("the model has " + std::to_string(in) + " inputs and " +
                               std::to_string(out) + " outputs");
    bindings_.push_back({values_of(inputs), values_of(outputs)});
    if (bindings_.size() > 1) return bindings_.size() - 1;
    for (const auto& [buffers, names] :
         {std::pair(&inputs, &input_names_), std::pair(&outputs, &output_names_)})
      for (const Buffer& b : *buffers) {
        kept_.push_back(std::make_unique<std::string>(b.name));
        names->push_back(kept_.back()->c_str());
      }
    return 0;
  }
  void run(size_t binding = 0) {
    Binding& b = bindings_[binding];
    r_.call<void*, const void*, const char* const*, const void* const*, size_t, const char* const*,
            size_t, void**>(Runtime::kRun, session_, nullptr, input_names_.data(), b.inputs.data(),
                            b.inputs.size(), output_names_.data(), b.outputs.size(),
                            b.outputs.data());
  }

 private:
  struct Binding {
    std::vector<void*> inputs, outputs;
  };
  std::vector<void*> values_of(const std::vector<Buffer>& buffers) const {
    std::vector<void*> out;
    for (const Buffer& b : buffers) {
      size_t bytes = b.integers ? sizeof(int64_t) : sizeof(float);
      for (const int64_t n : b.shape) bytes *= static_cast<size_t>(n);
      void* value = nullptr;
      constexpr int kFloat = 1, kInt64 = 7;
      r_.call<const void*, void*, size_t, const int64_t*, size_t, int, void**>(
          Runtime::kCreateTensorWithDataAsOrtValue, r_.host_, b.data, bytes, b.shape.data(),
          b.shape.size(), b.integers ? kInt64 : kFloat, &value);
      out.push_back(value);
    }
    return out;
  }

  const Runtime& r_;
  void* session_ = nullptr;
  std::vector<std::unique_ptr<std::string>> kept_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<Binding> bindings_;
};

}  // namespace onnx_runtime
