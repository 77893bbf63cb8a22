// What fuzzing feeds: readers of bytes that anybody may have made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Each has a file of this folder that defines its `fuzz_<name>()`, and a folder of inputs in
// corpus/.
#define TAEDA_FUZZ_READERS(X)                                                                     \
  X(safetensors)                                                                                  \
  X(shards)                                                                                       \
  X(checkpoint)                                                                                   \
  X(json) X(npy) X(npz) X(pt) X(legacy) X(pickle) X(png) X(jpeg) X(idx) X(cifar) X(csv) X(events) \
      X(einsum) X(device) X(views) X(reports) X(stages) X(onnx) X(file_store)
// Those of RPC, and of its engine.
#define TAEDA_FUZZ_RPC_READERS(X) X(wire) X(calls)
#define TAEDA_FUZZ_FRAME_READERS(X) X(frames)
// Those of the engine `grpc`.
#define TAEDA_FUZZ_GRPC_READERS(X) X(greetings) X(store)
// Those of the command.
#define TAEDA_FUZZ_TOOL_READERS(X) X(hosts)

namespace taeda::fuzz {

struct Reader {
  /// Reads the bytes or throws the library's Error.
  void (*read)(std::string_view bytes);
  /// Bytes whose lengths and checksums fit what they hold, so that changes get past them; null for
  /// a format that has none.
  std::string (*repair)(std::string bytes) = nullptr;
};

#define TAEDA_FUZZ_DECLARE(name) Reader fuzz_##name();
TAEDA_FUZZ_READERS(TAEDA_FUZZ_DECLARE)
TAEDA_FUZZ_RPC_READERS(TAEDA_FUZZ_DECLARE)
TAEDA_FUZZ_FRAME_READERS(TAEDA_FUZZ_DECLARE)
TAEDA_FUZZ_GRPC_READERS(TAEDA_FUZZ_DECLARE)
TAEDA_FUZZ_TOOL_READERS(TAEDA_FUZZ_DECLARE)
#undef TAEDA_FUZZ_DECLARE

/// Whether the bytes were read; the library's errors are the other good answer, and what else is
/// thrown goes on.
bool feed(const Reader& reader, std::string_view bytes);

/// A regular file in memory with these bytes.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Numbers taken from the front of an input; zeros when it is used up.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  unsigned byte();
  /// Mostly small, now and then any 64 bits.
  long long any();
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// An input that is several messages: each is its length, two bytes, and as much of it as there is.
std::vector<std::string_view> messages_in(std::string_view bytes);

/// Writes `value` at a place of a text that is long enough, in either order.
void put_little(std::string& bytes, size_t at, unsigned long long value, size_t width);
void put_big(std::string& bytes, size_t at, unsigned long long value, size_t width);
unsigned long long little_at(const std::string& bytes, size_t at, size_t width);
unsigned long long big_at(const std::string& bytes, size_t at, size_t width);

}  // namespace taeda::fuzz
