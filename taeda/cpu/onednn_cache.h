// What the oneDNN files share: the engine, primitives kept by shape, arguments bound to memory.
// Included by taeda/cpu/onednn_*.cpp alone, and only when oneDNN is there.
#pragma once

#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "taeda/base/signals.h"
#include "taeda/cpu/thread_scope.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::cpu::onednn {

/// The CPU engine, and a stream of the calling thread.
const dnnl::engine& engine();
dnnl::stream& stream();
/// Threads that a primitive made or run now uses: makes it the number that operations may use.
int threads();
/// oneDNN's name of a dtype that `takes` it.
dnnl::memory::data_type data_type(ScalarType t);
/// float, and bfloat16 where the machine has instructions for it.
bool takes(ScalarType t);

inline dnnl::memory::dims to_dims(IntArrayRef list) { return {list.begin(), list.end()}; }

/// Sizes and strides in a fixed place, for keys.
struct Dims {
  int64_t values[10] = {};
  static Dims of(const Tensor& t) {
    Dims d;
    const size_t n = t.sizes().size();
    for (size_t i = 0; i < n && i < 5; ++i)
      d.values[i] = t.sizes()[i], d.values[5 + i] = t.strides()[i];
    return d;
  }
  bool operator==(const Dims&) const = default;
};

/// Made values by key, at most kLimit of them: beyond that the map starts anew, because a program
/// that goes through so many shapes will not come back to the first.
template <class Key, class Value>
class Cache {
 public:
  static constexpr size_t kLimit = 512;

  template <class Make>
  Value& get(const Key& key, Make&& make) {
    if (last_ && *last_key_ == key) return *last_;
    auto at = map_.find(key);
    if (at == map_.end()) {
      if (map_.size() >= kLimit) map_.clear();
      threads();
      at = map_.emplace(key, std::make_unique<Value>(make())).first;
    }
    last_key_ = &at->first;
    last_ = at->second.get();
    return *last_;
  }

 private:
  struct Hash {
    size_t operator()(const Key& key) const noexcept {
      static_assert(std::is_trivially_copyable_v<Key>);
      uint64_t h = 1469598103934665603u;
      const char* bytes = reinterpret_cast<const char*>(&key);
      size_t i = 0;
      for (; i + 8 <= sizeof(Key); i += 8) {
        uint64_t word;
        std::memcpy(&word, bytes + i, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
      }
      for (; i < sizeof(Key); ++i) h = (h ^ static_cast<unsigned char>(bytes[i])) * 1099511628211u;
      return h;
    }
  };
  std::unordered_map<Key, std::unique_ptr<Value>, Hash> map_;
  const Key* last_key_ = nullptr;
  Value* last_ = nullptr;
};

/// The memory objects of one primitive, made once.
class Arguments {
 public:
  void add(int argument, const dnnl::memory::desc& desc) {
    memories_.emplace_back(desc, engine(), nullptr);
    list_.push_back({argument, memories_.back().get()});
  }
  void set(size_t i, void* data) const { dnnl_memory_set_data_handle(list_[i].memory, data); }
  void run(const dnnl::primitive& primitive) const {
    if (threads() == 1) return execute(primitive);
    const WithoutSignals none;  // for threads that OpenMP starts in there
    execute(primitive);
  }

 private:
  void execute(const dnnl::primitive& primitive) const {
    const auto status = dnnl_primitive_execute(primitive.get(), stream().get(),
                                               static_cast<int>(list_.size()), list_.data());
    dnnl::error::wrap_c_api(status, "could not execute a primitive");
  }

  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> list_;
};

}  // namespace taeda::cpu::onednn
