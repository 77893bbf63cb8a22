// The safetensors format, the JSON in it, and checkpoints, which are such files.
#include "taeda/io/safetensors.h"

#include "taeda/io/checkpoint.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/random_state.h"
#include "taeda/io/safetensors_header.h"
#include "taeda/io/sharded.h"
#include "taeda/ops/create/create.h"
#include "tests/fuzz/reader.h"
#include "tests/io/temporary_folder.h"

namespace taeda::fuzz {
namespace {

std::string with_length(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  put_little(out, 0, header.size(), 8);
  return out + header + data;
}

/// The header's length becomes the place of its last brace.
std::string repaired(std::string bytes) {
  if (bytes.size() < 8) return bytes;
  const size_t end = bytes.rfind('}');
  if (end != std::string::npos && end >= 8) put_little(bytes, 0, end + 1 - 8, 8);
  return bytes;
}

void read_checkpoint(std::string_view bytes) {
  const auto c = io::Checkpoint::load(MemoryFile(bytes).path());
  const auto attempt = [](const auto& body) {
    try {
      body();
    } catch (const Error&) {
    }
  };
  attempt([&] { c.number("epoch"); });
  attempt([&] {
    Tensor t;
    c.get("w", t);
  });
  attempt([&] {
    std::vector<Tensor> list;
    c.get("list", list);
  });
  attempt([&] {
    std::map<std::string, Tensor> map;
    c.get("map", map);
  });
  attempt([&] {
    io::RandomState random;
    c.get("random", random);
  });
}

/// An index beside two shards; what is above their folder is nothing that it may name.
void read_shards(std::string_view bytes) {
  static const TemporaryFolder folder;
  static const bool made = [] {
    io::save_safetensors({{"w", ones({2})}, {"b", ones({1})}}, folder / "a.safetensors");
    io::save_safetensors({{"v", ones({3})}}, folder / "b.safetensors");
    return true;
  }();
  const std::string path = folder / "model.safetensors.index.json";
  std::ofstream(path, std::ios::binary) << bytes;
  const io::Archive archive = io::load_sharded(path);
  if (!made || archive.tensors.size() > 3) __builtin_trap();
}

}  // namespace

Reader fuzz_safetensors() {
  return {[](std::string_view bytes) { io::SafeTensors::parse(std::string(bytes)).all(); },
          &repaired};
}

Reader fuzz_json() {
  return {[](std::string_view bytes) {
    io::read_header(*io::FileBytes::of(with_length(std::string(bytes), std::string(64, '\0'))));
  }};
}

Reader fuzz_shards() { return {&read_shards}; }

Reader fuzz_checkpoint() { return {&read_checkpoint, &repaired}; }

}  // namespace taeda::fuzz
