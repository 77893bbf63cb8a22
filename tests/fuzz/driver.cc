// What libFuzzer calls, for the reader that TAEDA_FUZZ_READER names (tools/fuzz builds it).
#include <cstdint>
#include <cstring>

#include "tests/fuzz/reader.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

const taeda::fuzz::Reader& reader() {
  static const taeda::fuzz::Reader out = taeda::fuzz::TAEDA_FUZZ_READER();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taeda::fuzz::feed(reader(), {reinterpret_cast<const char*>(data), size});
  return 0;
}

/// Three of four changed inputs are repaired; the others show what lengths and checksums refuse.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (!reader().repair || seed % 4 == 0) return size;
  const std::string out = reader().repair({reinterpret_cast<const char*>(data), size});
  if (out.size() > most) return size;
  std::memcpy(data, out.data(), out.size());
  return out.size();
}
