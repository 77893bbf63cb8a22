// Files that nobody wrote in good faith.
#include <gmock/gmock.h>

#include "taeda/device/generator.h"
#include "taeda/io/atomic_file.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/onnx/file.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/onnx/round_trip.h"

namespace taeda::onnx {
namespace {

using testing::HasSubstr;

std::string good_file() {
  manual_seed(1);
  nn::Linear layer(3, 2);
  return write_graph(to_graph(*layer, detail::forward_of(*layer), {randn({2, 3})}));
}

TEST(Hostile, WhatIsNoModelIsRefused) {
  for (const std::string& bytes : {std::string(), std::string("\x89PNG"), std::string(100, '\xff')})
    EXPECT_THAT(error_of([&] { read_graph(bytes); }),
                HasSubstr("this is no ONNX file, or it is damaged"));
  EXPECT_THAT(error_of([] { load("no such file.onnx"); }), HasSubstr("no such file.onnx"));
}

TEST(Hostile, FilesCutShortAndChangedAreReadOrRefused) {
  const std::string good = good_file();
  for (size_t n = 0; n < good.size(); ++n) {
    const std::string what = error_of([&] { ImportedModel(read_graph(good.substr(0, n))); });
    EXPECT_THAT(what, testing::Not(testing::StartsWith("std::"))) << n;
  }
  for (size_t n = 0; n < good.size(); ++n)
    for (const int bit : {0, 3, 6, 7}) {
      std::string bad = good;
      bad[n] = static_cast<char>(bad[n] ^ (1 << bit));
      error_of([&] {
        ImportedModel model(read_graph(bad));
        model->run({randn({2, 3})});
      });
    }
}

/// A file with one initializer, whose fields are as given.
std::string with_tensor(const std::string& fields) {
  const auto field = [](int number, const std::string& text) {
    std::string out(1, static_cast<char>(number << 3 | 2));
    out += static_cast<char>(text.size());
    return out + text;
  };
  return field(7, field(5, fields));
}

TEST(Hostile, TensorsAreWhatTheirSizesSay) {
  const std::string name = "\x42\x01w", floats = "\x10\x01";
  const auto error = [&](const std::string& fields) {
    return error_of([&] { read_graph(with_tensor(name + fields)); });
  };
  EXPECT_THAT(error(floats + "\x08\x04" + "\x4a\x04" + std::string(4, '\0')),
              HasSubstr("the tensor 'w' has sizes [4] of float32 and 4 bytes"));
  EXPECT_THAT(error(floats + "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), HasSubstr("overflow"));
  EXPECT_THAT(error(floats + "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              HasSubstr("the tensor 'w' has the size -1"));
  // A tebibyte for thirty bytes.
  EXPECT_THAT(error(floats + "\x08\x80\x80\x80\x80\x80\x20"), HasSubstr("the tensor 'w'"));
  EXPECT_THAT(error("\x10\x08"), HasSubstr("ONNX's type 8 (string)"));
  EXPECT_THAT(error("\x10\x63"), HasSubstr("ONNX's type 99"));
}

TEST(Hostile, NoOtherFileIsReached) {
  const TemporaryFolder folder;
  io::write_file(folder / "secret", "0123");
  for (const std::string location : {"../secret", "/etc/passwd", "..", ".", "", "a/b"}) {
    std::string entry = "\x0a\x08location\x12";
    entry += static_cast<char>(location.size());
    entry += location;
    std::string fields = "\x42\x01w\x10\x01\x08\x01\x70\x01\x6a";
    fields += static_cast<char>(entry.size());
    fields += entry;
    EXPECT_THAT(error_of([&] { read_graph(with_tensor(fields), folder.path()); }),
                HasSubstr("which is no name in the model's folder"))
        << location;
  }
}

}  // namespace
}  // namespace taeda::onnx
