// Bytes that are no message: an error, whatever they are, and no memory for what they claim.

#include <gmock/gmock.h>

#include <random>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/rpc/codec.h"
#include "tests/error_of.h"

namespace taeda::distributed::rpc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Parts = std::tuple<std::string, std::vector<int64_t>, Tensor,
                         std::map<std::string, std::optional<double>>, bool>;

Packet written_parts() {
  Writer out;
  Codec<Parts>::write(out,
                      {"text", {1, 2, 3}, arange(6).view({2, 3}), {{"a", 1.5}, {"b", {}}}, true});
  return out.take();
}
Parts read_parts(const Packet& packet) {
  Reader in(packet);
  Parts out = Codec<Parts>::read(in);
  in.finish();
  return out;
}

TEST(Archive, ReadsWhatItWrote) {
  const Parts value = read_parts(written_parts());
  EXPECT_EQ(std::get<0>(value), "text");
  EXPECT_EQ(std::get<1>(value), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_TRUE(std::get<2>(value).equal(arange(6).view({2, 3})));
  EXPECT_EQ(std::get<3>(value).at("a"), 1.5);
}

TEST(Archive, EveryCutIsAnError) {
  const Packet whole = written_parts();
  for (size_t size = 0; size < whole.head.size(); ++size) {
    Packet cut = whole;
    cut.head.resize(size);
    EXPECT_THAT(error_of([&] { read_parts(cut); }), StartsWith("rpc: a message that is none: "))
        << size;
  }
  Packet longer = whole;
  longer.head += '\0';
  EXPECT_THAT(error_of([&] { read_parts(longer); }), HasSubstr("1 bytes and 0 tensors more"));
  Packet without = whole;
  without.bodies.clear();
  EXPECT_THAT(error_of([&] { read_parts(without); }), HasSubstr("a tensor without its memory"));
}

TEST(Archive, ChangedBytesAreAValueOrAnError) {
  std::mt19937 random(0);
  const Packet whole = written_parts();
  int errors = 0;
  for (int i = 0; i < 20'000; ++i) {
    Packet changed = whole;
    for (int k = random() % 4; k >= 0; --k)
      changed.head[random() % changed.head.size()] = static_cast<char>(random());
    try {
      read_parts(changed);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 1000);
}

TEST(Archive, SizesAreComparedBeforeAnythingIsMade) {
  const auto with_number = [](int64_t number) {
    Writer out;
    out.integer(number);
    return out.take();
  };
  for (const int64_t number : {int64_t{1} << 60, int64_t{-1}, INT64_MIN}) {
    Reader text(with_number(number)), list(with_number(number));
    EXPECT_THAT(error_of([&] { text.text(); }), HasSubstr("bytes where 0 are left"));
    EXPECT_THAT(error_of([&] { Codec<std::vector<std::tuple<>>>::read(list); }),
                HasSubstr("elements where 0 bytes are left"));
  }
}

/// A tensor as a message describes it, with `size` bytes of memory.
std::string error_of_tensor(uint8_t dtype, const std::vector<int64_t>& sizes, int64_t size) {
  Writer out;
  out.byte(1);
  out.byte(dtype);
  out.byte(static_cast<uint8_t>(sizes.size()));
  for (const int64_t s : sizes) out.integer(s);
  out.text("");
  Packet packet = out.take();
  packet.bodies.push_back(zeros({size}, kByte));
  return error_of([&] { Reader(packet).tensor(); });
}

TEST(Archive, TensorsMustFitTheirMemory) {
  const auto floats = static_cast<uint8_t>(kFloat);
  EXPECT_EQ(error_of_tensor(floats, {2, 3}, 24), "no error");
  EXPECT_THAT(error_of_tensor(floats, {2, 3}, 20), HasSubstr("24 bytes with a memory of 20"));
  EXPECT_THAT(error_of_tensor(floats, {int64_t{1} << 40, int64_t{1} << 40}, 4),
              HasSubstr("with a memory of 4"));
  EXPECT_THAT(error_of_tensor(floats, {-1, -4}, 16), HasSubstr("with a memory of 16"));
  EXPECT_THAT(error_of_tensor(99, {1}, 4), HasSubstr("dtype 99"));
  EXPECT_THAT(error_of_tensor(floats, std::vector<int64_t>(70, 1), 4), HasSubstr("70 dimensions"));
}

TEST(Archive, NumbersThatDoNotFitAreNamed) {
  Writer out;
  out.integer(300);
  Reader in(out.take());
  EXPECT_THAT(error_of([&] { Codec<uint8_t>::read(in); }),
              HasSubstr("the integer 300 does not fit into unsigned char"));
}

}  // namespace
}  // namespace taeda::distributed::rpc
