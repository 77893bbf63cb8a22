#include "taeda/io/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "taeda/base/error.h"
#include "taeda/io/checksums.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A file of this header, whatever it says, and `data`.
std::string file_of(const std::string& header, const std::string& data = "") {
  std::string out(8, '\0');
  const uint64_t n = header.size();
  std::memcpy(out.data(), &n, 8);
  return out + header + data;
}

std::string error_reading(const std::string& bytes) {
  try {
    SafeTensors::parse(bytes, "x");
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

Tensor iota(std::vector<int64_t> sizes, ScalarType dtype) {
  Tensor t = taeda::empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<float>()[i] = static_cast<float>(i) - 1;
  return t.to(dtype);
}

std::string bytes_of(const Tensor& t) {
  const Tensor c = t.contiguous();
  return {static_cast<const char*>(c.data_ptr()), static_cast<size_t>(c.nbytes())};
}

TEST(SafeTensors, RoundTripOfEveryDtype) {
  NamedTensors tensors;
  for (ScalarType t : kAllDtypes)
    if (t != kComplexDouble) tensors.emplace_back(dtype_name(t), iota({2, 3}, t));
  for (ScalarType t : {kUInt16, kUInt32, kUInt64, kFloat8_e4m3fn, kFloat8_e5m2, kFloat8_e8m0fnu})
    tensors.emplace_back(dtype_name(t), iota({2, 3}, kFloat).to(t));
  tensors.emplace_back("empty", empty({0, 4}));
  tensors.emplace_back("scalar", full({}, 2.5));
  tensors.emplace_back("strided", iota({3, 4}, kFloat).transpose(0, 1));
  const TemporaryFolder folder;
  save_safetensors(tensors, folder / "a.safetensors", {{"format", "pt"}, {"ключ", "значение"}});
  const SafeTensors file = SafeTensors::open(folder / "a.safetensors");
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}, {"ключ", "значение"}}));
  EXPECT_EQ(file.keys().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor got = file.get(name);
    EXPECT_EQ(got.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(got.sizes(), tensor.sizes()) << name;
    EXPECT_EQ(bytes_of(got), bytes_of(tensor)) << name;
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(got.data_ptr()) % static_cast<uintptr_t>(got.element_size()),
        0u);
  }
  EXPECT_TRUE(file.contains("scalar"));
  EXPECT_FALSE(file.contains("absent"));
  EXPECT_EQ(load_safetensors(folder / "a.safetensors").size(), tensors.size());
}

TEST(SafeTensors, WritesTheFormat) {
  const std::string bytes =
      serialize_safetensors({{"a", iota({2}, kByte)}, {"b", full({1}, 1.0, kFloat)}}, {{"k", "v"}});
  const std::string header =
      R"({"__metadata__":{"k":"v","taeda.crc32":"ff6596b4d2fdef8daca16a6a"},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  ASSERT_GT(bytes.size(), 8 + header.size());
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  EXPECT_EQ(bytes.substr(8 + length), std::string("\0\0\x80\x3f", 4) + std::string("\xff\0", 2));
}

TEST(SafeTensors, ReadsDataThatIsNotAligned) {
  const std::string value("\0\0\0\x40", 4);
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[],"data_offsets":[1,5]}})";
  const auto file = SafeTensors::parse(file_of(header, "\7" + value));
  EXPECT_EQ(file.get("b").item<float>(), 2.f);
  EXPECT_EQ(file.get("a").item<int>(), 7);
}

TEST(SafeTensors, TensorsOutliveTheFileAndDoNotChangeIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  save_safetensors({{"a", full({3}, 1.5)}}, path);
  const Tensor t = SafeTensors::open(path).get("a");
  EXPECT_EQ(t.data_ptr<float>()[2], 1.5f);
  t.data_ptr<float>()[0] = 9;
  EXPECT_EQ(SafeTensors::open(path).get("a").data_ptr<float>()[0], 1.5f);
}

TEST(SafeTensors, TensorsAreCopiesUnlessMapped) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  save_safetensors({{"a", full({5000}, 1.5)}}, path);
  const Tensor copy = load_safetensors(path)[0].second;
  const SafeTensors open = SafeTensors::open(path);
  const Tensor mapped = load_safetensors(path, /*mmap=*/true)[0].second;
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-4, std::ios::end)
      << std::string(4, '\0');
  EXPECT_EQ(mapped.data_ptr<float>()[4999], 0.f) << "the file itself";
  EXPECT_EQ(copy.data_ptr<float>()[4999], 1.5f);
  std::filesystem::resize_file(path, 300);
  EXPECT_EQ(copy.sum().item<float>(), 7500.f);
  EXPECT_THAT(error_of([&] { open.get("a"); }), HasSubstr("was cut short"));
}

TEST(SafeTensors, AFlippedByteIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder / "model";
  save_safetensors({{"w", iota({3, 4}, kFloat)}, {"b", iota({5}, kByte)}}, path, {{"lr", "0.1"}});
  const std::string good = contents(path);
  const auto error_with = [&](size_t at, char flip) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ flip);
    std::ofstream(path, std::ios::binary) << bytes;
    return error_of([&] { load_safetensors(path); });
  };
  const size_t data = good.size() - 53;
  for (size_t at = data; at < good.size(); ++at)
    EXPECT_EQ(error_with(at, 1), "tensor '" + std::string(at < data + 48 ? "w" : "b") + "' in " +
                                     path + " is damaged: its " + (at < data + 48 ? "48" : "5") +
                                     " bytes do not fit their checksum");
  EXPECT_EQ(error_with(good.find("0.1"), 1),
            path +
                " is no valid safetensors file: its header is damaged: names, dtypes, shapes or "
                "metadata do not fit their checksum");
  // Every byte of the header but the name of the checksums, without which a file has none.
  const size_t name = good.find("taeda.crc32"), header_end = good.rfind('}') + 1;
  for (size_t at = 8; at < header_end; ++at) {
    const bool of_name = at >= name && at < name + 11;
    if (of_name) continue;
    EXPECT_THAT(error_with(at, 2), HasSubstr(path)) << "byte " << at;
  }
}

TEST(SafeTensors, FilesWithoutChecksumsLoad) {
  const auto file = SafeTensors::parse(
      file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", "\1\2"), "x");
  EXPECT_EQ(file.get("a").sum().item<int>(), 3);
  EXPECT_THROW(serialize_safetensors({}, {{"taeda.crc32", ""}}), ValueError);
  EXPECT_THAT(error_reading(file_of(R"({"__metadata__":{"taeda.crc32":"0"},)"
                                    R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                    "\1\2")),
              HasSubstr("it has 1 tensors, but its checksums (taeda.crc32) are 1 characters"));
}

/// The checksum joins those of blocks, which threads compute.
TEST(Checksum, IsTheCrcOfTheWhole) {
  EXPECT_EQ(checksum_of("123456789", 9), 0xcbf43926u) << "the standard's check value";
  std::string bytes(10'000'001, 'x');
  for (size_t i = 0; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(i);
  uint32_t crc = 0xffffffffu;
  for (char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  EXPECT_EQ(checksum_of(bytes.data(), bytes.size()), ~crc);
}

TEST(SafeTensors, UnknownNamesAndDtypes) {
  const auto file = SafeTensors::parse(
      file_of(R"({"a":{"dtype":"F6_E2M3","shape":[8],"data_offsets":[0,6]}})", "abcdef"), "x");
  EXPECT_THROW(file.get("b"), ValueError);
  try {
    file.get("a");
    ADD_FAILURE();
  } catch (const TypeError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("tensor 'a' in x has dtype F6_E2M3, which Taeda does not have"));
  }
}

TEST(SafeTensors, RefusesWhatCannotBeWritten) {
  const Tensor t = full({1}, 1);
  EXPECT_THROW(serialize_safetensors({{"a", t}, {"a", t}}), ValueError);
  EXPECT_THROW(serialize_safetensors({{"__metadata__", t}}), ValueError);
  EXPECT_THROW(serialize_safetensors({{"a", Tensor()}}), ValueError);
  EXPECT_THROW(serialize_safetensors({{"\xff", t}}), ValueError);
  EXPECT_THROW(serialize_safetensors({{"a", full({1}, 1, kComplexDouble)}}), TypeError);
}

struct Hostile {
  std::string bytes, reason;
};

class HostileHeader : public testing::TestWithParam<Hostile> {};

TEST_P(HostileHeader, IsRefusedWithTheReason) {
  EXPECT_THAT(error_reading(GetParam().bytes),
              testing::StartsWith("x is no valid safetensors file: "));
  EXPECT_THAT(error_reading(GetParam().bytes), HasSubstr(GetParam().reason));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

const std::string kF32 = R"("F32")";

std::vector<Hostile> hostile_headers() {
  const std::string eight(8, 'd');
  std::string ones;
  for (int i = 0; i < 64; ++i) ones += "1,";
  const std::string pair =
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[)";
  return {
      {"", "0 bytes, fewer than the 8"},
      {"1234567", "7 bytes, fewer than the 8"},
      {std::string("\2\0\0\0\0\0\0\0{", 9), "header of 2 bytes goes beyond the file of 9"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "larger than 100000000"},
      {file_of(""), "does not start with '{'"},
      {file_of("[]"), "does not start with '{'"},
      {file_of(" {}"), "does not start with '{'"},
      {file_of("{"), "not valid JSON"},
      {file_of("{}x"), "not valid JSON"},
      {file_of(std::string("{\"a\xff\":{}}")), "not valid JSON"},
      {file_of("{\"\xed\xa0\x80\":{}}"), "not valid JSON"},
      {file_of(R"({"a":1})"), "unexpected the number 1 in 'a'"},
      {file_of(R"({"a":null})"), "unexpected null"},
      {file_of(R"({"a":true})"), "unexpected a boolean"},
      {file_of(R"({"a":"b"})"), "unexpected the string \"b\""},
      {file_of(R"({"a":[]})"), "unexpected a list"},
      {file_of(R"({"a":{}})"), "has no field 'dtype'"},
      {file_of(R"({"a":{"dtype":"F32","shape":[]}})"), "has no field 'data_offsets'"},
      {file_of(R"({"a":{"dtype":"F32","x":[]}})"), "unknown field 'x'"},
      {file_of(R"({"a":{"b":{}}})"), "unknown field 'b'"},
      {file_of(R"({"a":{"dtype":{}}})"), "unexpected an object"},
      {file_of(R"({"__metadata__":{"a":1}})"), "unexpected the number 1"},
      {file_of(R"({"__metadata__":{"a":{}}})"), "unexpected an object"},
      {file_of(R"({"__metadata__":{"a":"1","a":"2"}})"),
       "the field 'a' of '__metadata__' occurs twice"},
      {file_of(R"({"a":{"dtype":"F32","dtype":"F32"}})"), "the field 'dtype' of 'a' occurs twice"},
      {file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})"),
       "the name 'a' occurs twice"},
      {file_of(entry(R"("F33")", "[2]", "[0,8]"), eight), "unknown dtype 'F33'"},
      {file_of(entry(kF32, "[-2]", "[0,8]"), eight), "the negative number -2"},
      {file_of(entry(kF32, "[2.0]", "[0,8]"), eight), "the number 2.0"},
      {file_of(entry(kF32, "[[2]]", "[0,8]"), eight), "unexpected a list"},
      {file_of(entry(kF32, "\"2\"", "[0,8]"), eight), "is a string"},
      {file_of(entry(kF32, "[2]", "[0]"), eight), "are 1 numbers, not 2"},
      {file_of(entry(kF32, "[2]", "[0,8,8]"), eight), "are 3 numbers, not 2"},
      {file_of(entry(kF32, "[2]", "[8,0]"), eight), "outside the 8 bytes"},
      {file_of(entry(kF32, "[2]", "[0,9]"), eight), "outside the 8 bytes"},
      {file_of(entry(kF32, "[3]", "[0,8]"), eight), "needs 12 bytes, but its offsets span 8"},
      {file_of(entry(kF32, "[4294967296,4294967296]", "[0,8]"), eight), "overflows"},
      {file_of(entry(kF32, "[18446744073709551615]", "[0,8]"), eight), "too large"},
      {file_of(entry(kF32, "[99999999999999999999]", "[0,8]"), eight), "unexpected the number"},
      {file_of(entry(kF32, "[" + ones + "2]", "[0,8]"), eight), "65 dimensions"},
      {file_of(entry(R"("F4")", "[3]", "[0,1]"), "d"), "no whole byte"},
      {file_of(pair + R"(4],"data_offsets":[2,6]}})", "dddddd"), "tensor 'b' overlaps"},
      {file_of(pair + R"(3],"data_offsets":[5,8]}})", eight), "hole of 1 bytes before tensor 'b'"},
      {file_of(pair + R"(2],"data_offsets":[4,6]}})", eight),
       "2 bytes at the end belong to no tensor"},
      {file_of("{}", "d"), "1 bytes at the end belong to no tensor"},
      {file_of("{" + std::string(100000, '[')), "not valid JSON"},
      {file_of(R"({"a":{"shape":)" + std::string(100000, '[')), "unexpected a list"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, HostileHeader, testing::ValuesIn(hostile_headers()));

TEST(SafeTensors, NamesTheFileThatIsMissing) {
  const TemporaryFolder folder;
  try {
    SafeTensors::open(folder / "none");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "cannot read " + (folder / "none") + ": No such file or directory");
  }
  EXPECT_THROW(SafeTensors::open(folder.path()), Error);
}

TEST(SafeTensors, AnEmptyListIsAFile) {
  EXPECT_TRUE(SafeTensors::parse(serialize_safetensors({})).tensors().empty());
}

/// Whatever bytes are changed, cut or repeated: an Error or tensors within the file, nothing else.
TEST(SafeTensors, SurvivesMutatedFiles) {
  const std::string good = serialize_safetensors(
      {{"w", iota({3, 4}, kFloat)}, {"b", iota({5}, kBFloat16)}, {"n", iota({2}, kLong)}},
      {{"k", "v"}});
  const SafeTensors original = SafeTensors::parse(good);
  // A file whose checksums lost their name is one without.
  const auto has_key = [](const std::string& bytes) {
    return bytes.find("\"taeda.crc32\"") != std::string::npos;
  };
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return random() % n; };
  int refused = 0, accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(bytes.size()), n = below(std::min<size_t>(16, bytes.size() - at));
      switch (below(5)) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes[at] = "0123456789{}[]\",: -eE.\\u"[below(24)]; break;
        case 2: bytes.erase(at, n); break;
        case 3: bytes.insert(at, bytes.substr(at, n)); break;
        default: bytes.resize(at + 1);
      }
    }
    try {
      const SafeTensors file = SafeTensors::parse(bytes);
      const NamedTensors tensors = file.all();
      if (file.metadata() == Metadata{{"k", "v"}} && has_key(bytes)) {
        for (const auto& [name, tensor] : original.all())
          EXPECT_EQ(bytes_of(file.get(name)), bytes_of(tensor)) << name << " in round " << round;
      }
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
  EXPECT_GT(accepted, 10) << "some changes are none";
}

}  // namespace
}  // namespace taeda::io
