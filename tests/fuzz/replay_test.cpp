// Every input of the corpus, and what is left when its end is missing: read, or refused with the
// library's error. tools/fuzz looks for more inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "taeda/io/zip_archive.h"
#include "taeda/log/summary_writer.h"
#include "taeda/onnx/file.h"
#include "taeda/vision/image_io.h"
#include "tests/fuzz/reader.h"
#include "tests/io/temporary_folder.h"

namespace taeda::fuzz {
namespace {

struct Named {
  const char* name;
  Reader (*reader)();
};

void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

#define TAEDA_FUZZ_NAMED(name) {#name, &fuzz_##name},
constexpr Named kReaders[] = {TAEDA_FUZZ_READERS(TAEDA_FUZZ_NAMED)
#if defined(TAEDA_HAS_RPC)
                                  TAEDA_FUZZ_RPC_READERS(TAEDA_FUZZ_NAMED)
#endif
#if defined(TAEDA_HAS_RPC) && defined(TAEDA_HAS_GRPC)
                                      TAEDA_FUZZ_FRAME_READERS(TAEDA_FUZZ_NAMED)
#endif
#if defined(TAEDA_HAS_GRPC)
                                          TAEDA_FUZZ_GRPC_READERS(TAEDA_FUZZ_NAMED)
#endif
#if defined(TAEDA_HAS_TOML)
                                              TAEDA_FUZZ_TOOL_READERS(TAEDA_FUZZ_NAMED)
#endif
};

bool is_built(const std::string& name) {
  if (name == "npz" || name == "pt" || name == "pickle") return io::has_zip();
  if (name == "png") return vision::has_png();
  if (name == "jpeg") return vision::has_jpeg();
  if (name == "onnx") return onnx::is_supported();
  return name != "events" || logging::has_tensorboard();
}

class Corpus : public testing::TestWithParam<Named> {};

TEST_P(Corpus, IsReadOrRefused) {
  const std::string name = GetParam().name;
  if (!is_built(name)) GTEST_SKIP() << "built without what reads " << name;
  const Reader reader = GetParam().reader();
  size_t inputs = 0, read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TAEDA_SOURCE_DIR "/tests/fuzz/corpus/" + name)) {
    const std::string whole = contents(entry.path().string());
    ++inputs;
    const size_t step = std::max<size_t>(1, whole.size() / 64);
    for (size_t left = whole.size();; left -= std::min(left, step)) {
      const std::string_view part = std::string_view(whole).substr(0, left);
      EXPECT_NO_THROW(read += feed(reader, part)) << entry.path() << ", " << left << " bytes";
      if (reader.repair) {
        EXPECT_NO_THROW(feed(reader, reader.repair(std::string(part)))) << entry.path();
      }
      if (left == 0) break;
    }
  }
  EXPECT_GT(inputs, 0u);
  EXPECT_GT(read, 0u) << "nothing of the corpus is whole";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(kReaders),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taeda::fuzz
