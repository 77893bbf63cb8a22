// Files of NumPy and of PyTorch: what those programs wrote (tests/golden), and what nobody should
// have written.
#include <gmock/gmock.h>

#include <fstream>

#include "taeda/io/budget.h"
#include "taeda/io/npy.h"
#include "taeda/io/pickle.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/zip_archive.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kData = TAEDA_SOURCE_DIR "/tests/io/data/";

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string npy(const std::string& header, const std::string& data = "") {
  std::string out = "\x93NUMPY";
  out += std::string("\x01\0", 2);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

const Tensor& at(const NamedTensors& list, const std::string& name) {
  for (const auto& [key, tensor] : list)
    if (key == name) return tensor;
  throw std::out_of_range(name);
}

TEST(Npy, ReadsWhatNumPyWrote) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const NamedTensors arrays = load_npz(kData + "arrays.npz");
  EXPECT_EQ(arrays.size(), 15u);
  const Tensor six = arange(6).view({2, 3});
  for (const auto& [name, dtype] :
       {std::pair("float16", kHalf), std::pair("float32", kFloat), std::pair("float64", kDouble),
        std::pair("int8", kChar), std::pair("int16", kShort), std::pair("int32", kInt),
        std::pair("int64", kLong), std::pair("uint8", kByte), std::pair("bool", kBool),
        std::pair("complex64", kComplexFloat), std::pair("complex128", kComplexDouble)}) {
    EXPECT_EQ(at(arrays, name).dtype(), dtype) << name;
    EXPECT_TRUE(at(arrays, name).equal(six.to(dtype))) << name;
  }
  EXPECT_EQ(at(arrays, "scalar").item<float>(), 2.5);
  EXPECT_EQ(at(arrays, "scalar").dim(), 0);
  EXPECT_EQ(at(arrays, "empty").sizes().vec(), (std::vector<int64_t>{0, 4}));
  EXPECT_TRUE(at(arrays, "big_endian").equal(six.to(kInt)));
  EXPECT_TRUE(at(arrays, "fortran").equal(six.to(kFloat)));
  EXPECT_TRUE(at(arrays, "fortran").is_contiguous());
}

TEST(Npy, UnsignedIntegersBecomeWiderOnes) {
  const auto read = [](const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false) {
    return parse_npy(npy("{'descr': '" + descr + "', 'fortran_order': " +
                             (fortran ? "True" : "False") + ", 'shape': (" + shape + ")}",
                         data));
  };
  const std::string most(8, '\xff'), one("\x01\0\0\0\0\0\0\0", 8);
  const Tensor two = read("<u2", "2,", most.substr(0, 2) + one.substr(0, 2));
  EXPECT_EQ(two.dtype(), kInt);
  EXPECT_TRUE(two.equal(tensor({65535, 1}).to(kInt)));
  EXPECT_TRUE(read("<u4", "1,", most.substr(0, 4)).equal(full({1}, 4294967295, kLong)));
  EXPECT_TRUE(read(">u4", "1,", std::string("\0\0\0\x07", 4)).equal(full({1}, 7, kLong)));
  EXPECT_TRUE(read("<u8", "1,", one).equal(full({1}, 1, kLong)));
  EXPECT_EQ(read("<u4", "0, 3", "").sizes().vec(), (std::vector<int64_t>{0, 3}));
  std::string counted;
  for (char i = 0; i < 6; ++i) counted += std::string(1, i) + '\0';
  EXPECT_TRUE(
      read("<u2", "2, 3", counted, /*fortran=*/true).equal(arange(6).view({3, 2}).t().to(kInt)));
  EXPECT_THAT(error_of([&] { read("<u8", "1,", most); }),
              HasSubstr("it holds 18446744073709551615, which int64 does not"));
  EXPECT_THAT(error_of([&] { read("<u4", "2,", most.substr(0, 4)); }),
              HasSubstr("promises 8 bytes of data, it has 4"));
}

TEST(Npy, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  for (const Tensor& t : {arange(6).view({2, 3}).t(), full({}, 2.5, kHalf), zeros({0, 3}, kBool),
                          arange(5).to(kComplexFloat), ones({4}, "sim:0")}) {
    save_npy(t, path);
    const Tensor back = load_npy(path);
    EXPECT_EQ(back.dtype(), t.dtype());
    EXPECT_TRUE(back.equal(t.cpu()));
  }
  // As the format says: data at a multiple of 64, and the header ends a line.
  const std::string bytes = serialize_npy(arange(3));
  EXPECT_EQ(bytes.size(), 128u + 24);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_THAT(error_of([&] { save_npy(Tensor(), path); }), HasSubstr("undefined tensor"));
  if (!has_zip()) return;
  for (bool compressed : {false, true}) {
    save_npz({{"x", arange(3)}, {"layer.w", zeros({100})}}, folder / "b.npz", compressed);
    const NamedTensors back = load_npz(folder / "b.npz");
    ASSERT_EQ(back.size(), 2u);
    EXPECT_EQ(back[1].first, "layer.w");
    EXPECT_TRUE(back[0].second.equal(arange(3)));
    EXPECT_TRUE(back[1].second.equal(zeros({100})));
  }
  EXPECT_THAT(error_of([&] {
                save_npz({{"x", ones({1})}, {"x", ones({1})}}, path);
              }),
              HasSubstr("two tensors are named 'x'"));
  EXPECT_THAT(error_of([&] { save_npz({}, path); }), HasSubstr("an .npz file needs an array"));
}

TEST(Npy, RefusesWhatIsWrong) {
  const auto error = [](const std::string& bytes) { return error_of([&] { parse_npy(bytes); }); };
  const auto header = [&](const std::string& text) { return error(npy(text)); };
  EXPECT_THAT(error("nothing"), HasSubstr("the data is no valid .npy file: it does not start"));
  EXPECT_THAT(error("\x93NUMPY\x01"), HasSubstr("it is cut off"));
  EXPECT_THAT(error("\x93NUMPY\x09\x01"
                    "1234567"),
              HasSubstr("it has version 9"));
  EXPECT_THAT(error(npy("{}").substr(0, 11)), HasSubstr("it is cut off"));
  EXPECT_THAT(error(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)),
              HasSubstr("its header has 4294967295 bytes"));
  EXPECT_THAT(header("{}"), HasSubstr("its header is incomplete"));
  EXPECT_THAT(header("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("has 'descr' twice"));
  EXPECT_THAT(header("{'evil': 1}"), HasSubstr("an unknown key 'evil'"));
  EXPECT_THAT(header("{'descr' '<f4'}"), HasSubstr("lacks a ':'"));
  EXPECT_THAT(header("{'descr': '<f4}"), HasSubstr("a text without an end"));
  EXPECT_THAT(header("{'descr': 4}"), HasSubstr("lacks a text"));
  EXPECT_THAT(header("{'fortran_order': 1}"), HasSubstr("lacks True or False"));
  EXPECT_THAT(header("{'shape': (-1,)}"), HasSubstr("its shape has no size"));
  EXPECT_THAT(header("{'shape': (__import__('os'),)}"), HasSubstr("its shape has no size"));
  EXPECT_THAT(header("{'shape': (" + std::string(2 * 30, '1') + ")}"), HasSubstr("no size"));
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += "1, ";
  EXPECT_THAT(header("{'shape': (" + deep + ")}"), HasSubstr("more than 64 dimensions"));
  const auto shaped = [](const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + ")}";
  };
  EXPECT_THAT(error(npy(shaped("<f4", "3,"), "12345678")),
              HasSubstr("promises 12 bytes of data, it has 8"));
  EXPECT_THAT(error(npy(shaped("<f4", "4611686018427387904, 4"))), HasSubstr("too many bytes"));
  EXPECT_THAT(header(shaped("<U5", "1,")), HasSubstr("dtype '<U5', which Taeda does not have"));
  EXPECT_THAT(header("{'descr': [('a', '<f4')]}"), HasSubstr("it holds records"));
  EXPECT_THAT(error_of([] { load_npy(kData + "words.npy"); }),
              HasSubstr("words.npy: it has dtype"));
  // Truth is one bit, whatever the byte.
  EXPECT_EQ(
      parse_npy(npy(shaped("|b1", "2,"), std::string("\x07\0", 2))).to(kInt).sum().item<int>(), 1);
}

TEST(Npy, RefusesDamagedArchives) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  const auto error = [&](const std::string& bytes) {
    write(path, bytes);
    return error_of([&] { load_npz(path); });
  };
  EXPECT_THAT(error("no archive"), HasSubstr("cannot read " + path));
  EXPECT_THAT(error_of([&] { load_npz(folder / "none"); }), HasSubstr("cannot read"));
  EXPECT_THAT(error(make_zip({{"a.txt", "x"}}, false)),
              HasSubstr("is no .npz file: it holds a.txt"));
  std::string bytes = make_zip({{"a.npy", serialize_npy(zeros({1000}))}}, false);
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_THAT(error(bytes), HasSubstr("a.npy is damaged: CRC error"));
  EXPECT_THAT(error_of([&] {
                write(path, make_zip({{"a", "x"}}, true));
                ZipReader(path).read("b");
              }),
              HasSubstr("has no entry b"));
}

// Whoever unpacks an archive puts its entries where their names say.
TEST(Npy, RefusesNamesThatLeadOutOfTheArchive) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  for (const std::string name :
       {"../x", "a/../../x", "/x", "..\\x", "\\x", "C:\\x", "C:/x", "a\\..\\x"})
    EXPECT_THAT(error_of([&] {
                  save_npz({{name, ones({2})}}, path);
                }),
                AllOf(HasSubstr("'" + name + ".npy'"), HasSubstr("within an archive")))
        << name;
  EXPECT_THAT(error_of([&] {
                save_npz({{std::string("a\0b", 3), ones({2})}}, path);
              }),
              HasSubstr("has a byte of zero in its name"));
  EXPECT_FALSE(std::filesystem::exists(path));
  const NamedTensors good = {{"w:0", ones({2})}, {"a/b", ones({2})}, {"..x", ones({2})}};
  save_npz(good, path);
  EXPECT_EQ(load_npz(path).size(), good.size());
  // What others write may have any name; the checksums of an archive do not cover it.
  const std::string with_xx = make_zip({{"xx/a.npy", serialize_npy(ones({2}))}}, false);
  for (const std::string root : {"../", "/./", "..\\", "C:/", "\\x/"}) {
    std::string bytes = with_xx;
    for (size_t at = 0; (at = bytes.find("xx/", at)) != std::string::npos;)
      bytes.replace(at, root.size(), root);
    write(path, bytes);
    for (const auto& read : std::vector<std::function<void()>>{
             [&] { load_npz(path); }, [&] { load_pt(path); }, [&] { is_npz(path); }})
      EXPECT_THAT(error_of(read), AllOf(HasSubstr(path), HasSubstr("'" + root + "a.npy'"),
                                        HasSubstr("within an archive")));
  }
}

TEST(Pt, ReadsAStateDict) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const PtFile file = load_pt(kData + "state_dict.pt");
  const auto state = file.state_dict();
  EXPECT_EQ(state.keys(), (std::vector<std::string>{
                              "conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean",
                              "bn.running_var", "bn.num_batches_tracked", "fc.weight", "fc.bias"}));
  EXPECT_TRUE(state["conv.weight"].equal(arange(8).to(kFloat).view({2, 1, 2, 2})));
  EXPECT_TRUE(state["fc.bias"].equal(tensor({50.f, 51.f})));
  EXPECT_EQ(state["bn.num_batches_tracked"].dtype(), kLong);
  EXPECT_TRUE(file.values.empty());
  EXPECT_TRUE(load_pt(kData + "tensor.pt").tensors[0].second.equal(tensor({1.f, 2.f})));
}

TEST(Pt, ReadsACheckpoint) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const PtFile file = load_pt(kData + "checkpoint.pt");
  EXPECT_EQ(file.values.at("epoch"), "3");
  EXPECT_EQ(file.values.at("loss"), "0.25");
  EXPECT_EQ(file.values.at("name"), "Ä");
  EXPECT_EQ(file.values.at("done"), "True");
  EXPECT_EQ(file.values.at("nothing"), "None");
  EXPECT_EQ(file.values.at("large"), "1099511627776");
  EXPECT_EQ(file.values.at("shape.1"), "3");
  EXPECT_EQ(file.values.at("7"), "-1");
  EXPECT_EQ(file.values.at("optimizer.param_groups.0.lr"), "0.5");
  EXPECT_EQ(file.state_dict("model").size(), 9u);
  EXPECT_EQ(at(file.tensors, "optimizer.state.0.momentum_buffer").numel(), 8);
  EXPECT_EQ(at(file.tensors, "parameter").item<float>(), 5);
  const Tensor numbers = tensor({0, 1, 3});
  for (const auto& item : file.state_dict("dtypes"))
    EXPECT_TRUE(item.value().equal(numbers.to(item.value().dtype()))) << item.key();
  EXPECT_EQ(at(file.tensors, "dtypes.bfloat16").dtype(), kBFloat16);
  EXPECT_EQ(at(file.tensors, "dtypes.complex64").dtype(), kComplexFloat);
  const Tensor base = arange(12).to(kFloat);
  EXPECT_TRUE(at(file.tensors, "views.0").equal(base.view({3, 4}).t()));
  EXPECT_TRUE(at(file.tensors, "views.1").equal(tensor({2.f, 3.f, 4.f})));
  EXPECT_TRUE(at(file.tensors, "views.2").equal(tensor({0.f, 3.f, 6.f, 9.f})));
  EXPECT_EQ(at(file.tensors, "views.3").item<float>(), 7);
  EXPECT_EQ(at(file.tensors, "views.4").sizes().vec(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(at(file.tensors, "views.0").storage().get(),
            at(file.tensors, "views.1").storage().get());
  EXPECT_THAT(error_of([&] { file.state_dict("net"); }),
              HasSubstr("no tensors below 'net'; it has: model"));
}

TEST(Pt, RefusesWhatItDoesNotKnow) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  EXPECT_THAT(error_of([] { load_pt(kData + "stranger.pt"); }),
              HasSubstr("it names __main__.Stranger, which is not among what state dicts need"));
  EXPECT_EQ(error_of([] { load_pt(kData + "old_format.pt"); }), "no error");
  EXPECT_THAT(error_of([] { load_pt(kData + "words.npy"); }), HasSubstr("cannot read"));
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt";
  const auto error = [&](std::vector<std::pair<std::string, std::string>> entries) {
    write(path, make_zip(entries, false));
    return error_of([&] { load_pt(path); });
  };
  EXPECT_THAT(error({{"x/other", "1"}}), HasSubstr("it has no data.pkl"));
  EXPECT_THAT(error({{"x/data.pkl", "\x80\x02K\x01."}, {"x/byteorder", "big"}}),
              HasSubstr("its numbers are not little-endian"));
  // The call that pickles are feared for.
  EXPECT_THAT(error({{"x/data.pkl",
                      "\x80\x02"
                      "cos\nsystem\nX\x02\0\0\0id\x85R."}}),
              HasSubstr("it names os.system"));

  /// A tensor of float32 storage "0" with these 8 bytes.
  const auto rebuild = [&](const std::string& size, const std::string& stride, char offset,
                           char elements, const std::string& storage = "FloatStorage") {
    std::string p =
        "\x80\x02"
        "ctorch._utils\n_rebuild_tensor_v2\n((X";
    p += std::string("\x07\0\0\0storage", 11) + "ctorch\n" + storage + "\nX" +
         std::string(
             "\x01\0\0\0"
             "0X\x03\0\0\0cpuK",
             14) +
         elements + "tQK" + offset + size + stride +
         "\x89"
         "ccollections\nOrderedDict\n)RtR.";
    return error({{"x/data.pkl", p}, {"x/data/0", "12345678"}});
  };
  const std::string two = "K\x02\x85", one = "K\x01\x85";
  EXPECT_EQ(rebuild(two, one, 0, 2), "no error");
  EXPECT_THAT(rebuild(two, one, 1, 2), HasSubstr("reaches beyond its storage"));
  EXPECT_THAT(rebuild(two, two, 0, 2), HasSubstr("reaches beyond its storage"));
  EXPECT_THAT(rebuild("K\x03\x85", std::string("K\0\x85", 3), 0, 2),
              HasSubstr("reaches beyond its storage"))
      << "more elements than there are";
  EXPECT_THAT(rebuild(two, "K\x01K\x01\x86", 0, 2), HasSubstr("1 sizes and 2 strides"));
  EXPECT_THAT(rebuild("J\xff\xff\xff\xff\x85", one, 0, 2),
              HasSubstr("size or stride that is none"));
  const std::string huge = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_THAT(rebuild(huge + huge + "\x86", one.substr(0, 2) + one.substr(0, 2) + "\x86", 0, 2),
              HasSubstr("reaches beyond its storage"));
  EXPECT_THAT(rebuild(two, one, 0, 3), HasSubstr("should have 3 elements of 4 bytes, but has 8"));
  EXPECT_THAT(rebuild(two, one, 0, 2, "QInt8Storage"), HasSubstr("has a torch.QInt8Storage"));
}

TEST(Pt, PicklesThatAreWrong) {
  const auto error = [](const std::string& bytes) { return error_of([&] { Pickle p(bytes); }); };
  EXPECT_THAT(error(""), HasSubstr("the pickle is cut off"));
  EXPECT_THAT(error("\x80\x02"), HasSubstr("cut off"));
  EXPECT_THAT(error("\x80\x01."), HasSubstr("protocol 1"));
  EXPECT_THAT(error("."), HasSubstr("does not end with one value"));
  EXPECT_THAT(error("NN."), HasSubstr("does not end with one value"));
  EXPECT_THAT(error("\x92."), HasSubstr("opcode 0x92, which state dicts do not need"));
  EXPECT_THAT(error("\x85."), HasSubstr("takes what is not there"));
  EXPECT_THAT(error("Nt."), HasSubstr("lacks a mark"));
  EXPECT_THAT(error("NNNs."), HasSubstr("takes something else for a dictionary"));
  EXPECT_THAT(error("NNa."), HasSubstr("takes something else for a list"));
  EXPECT_THAT(error("}(Nu."), HasSubstr("a key without a value"));
  EXPECT_THAT(error("h\x05."), HasSubstr("recalls what it did not keep"));
  EXPECT_THAT(error("N)\x81."), HasSubstr("makes an object that is no module"));
  EXPECT_THAT(error("c__torch__\nModule\n)\x81Nb."), HasSubstr("a module without members"));
  EXPECT_THAT(error("N)R."), HasSubstr("calls what is no function"));
  EXPECT_THAT(error("NQ."), HasSubstr("a storage without a description"));
  EXPECT_THAT(error("NN\x93."), HasSubstr("a name that is no text"));
  EXPECT_THAT(error(std::string("X\xff\xff\xff\xff.", 6)), HasSubstr("cut off"));
  EXPECT_THAT(error("\x8a\x09"
                    "123456789."),
              HasSubstr("an integer of 9 bytes"));
  EXPECT_THAT(error("ctorch\nload\n."), HasSubstr("it names torch.load"));
  EXPECT_THAT(error("ctorch.evil\nStorage\n."), HasSubstr("it names torch.evil.Storage"));
  EXPECT_THAT(error("ctorch._utils\n_rebuild_tensor_v9\n."),
              HasSubstr("it names torch._utils._rebuild_tensor_v9"));
  // A list that holds itself, and one that is small but has 2^60 paths.
  if (!has_zip()) return;
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt";
  const auto load = [&](const std::string& pickle) {
    write(path, make_zip({{"data.pkl", pickle}}, false));
    return error_of([&] { load_pt(path); });
  };
  EXPECT_THAT(load(std::string("]q\0h\0a.", 7)), HasSubstr("nested more than 100 deep"));
  std::string laughs = std::string("K\x01q\0", 4);
  for (char i = 0; i < 60; ++i) laughs += std::string("h") + i + "\x86q" + static_cast<char>(i + 1);
  EXPECT_THAT(load(laughs + "."), HasSubstr("would take"));
}

struct NetImpl : nn::Module {
  nn::Conv2d conv = register_module("conv", nn::Conv2d(1, 2, 2));
  nn::BatchNorm2d bn = register_module("bn", nn::BatchNorm2d(2));
  nn::Linear fc = register_module("fc", nn::Linear(3, 2));
};
TAEDA_MODULE(Net);

TEST(Pt, WeightsFitTheirNetwork) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  Net net;
  net->load_state_dict(load_pt(kData + "checkpoint.pt").state_dict("model"));
  net->load_state_dict(load_pt(kData + "state_dict.pt").state_dict());
  EXPECT_TRUE(net->fc->weight.equal((arange(6) + 40).to(kFloat).view({2, 3})));
  EXPECT_TRUE(net->bn->running_var.equal(ones({2})));
}

TEST(Pt, MemoryIsBoundedByTheFile) {
  // A container that is remembered can be named again in two bytes: it is never copied.
  const Pickle p(
      "((NNtq\x01"
      "ctorch\nSize\nh\x01\x85R"
      "h\x01Q"
      "ctorch._utils\n_rebuild_tensor_v2\nh\x01Rt.");
  const auto& made = p.root().items;
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[1], made[0]) << "a torch.Size is its tuple";
  EXPECT_EQ(made[2]->arguments, made[0]);
  EXPECT_EQ(made[3]->arguments, made[0]);
  // Dictionaries made of a list are copies, which the file's budget pays for.
  std::string dicts = "(]q\x01(K\x01K\x02\x86q\x02";
  for (int i = 0; i < 3999; ++i) dicts += "h\x02";
  dicts += "e";
  const std::string dict = "ccollections\nOrderedDict\nq\x03h\x01\x85R";
  EXPECT_EQ(error_of([&] { Pickle(dicts + dict + "t."); }), "no error");
  dicts += dict;
  for (int i = 0; i < 2000; ++i) dicts += "h\x03h\x01\x85R";
  EXPECT_THAT(error_of([&] { Pickle(dicts + "t."); }), HasSubstr("would take"));
}

/// Files of a few bytes that ask for gigabytes.
TEST(Budget, SmallFilesTakeLittle) {
  Budget budget(10);
  EXPECT_EQ(error_of([&] { budget.charge(Budget::kFloor + 10 * Budget::kPerByte, "all"); }),
            "no error");
  EXPECT_EQ(error_of([&] { budget.charge(1, "one more"); }),
            "one more would take 1 bytes of memory, but of the 1089856 that a file of 10 bytes may "
            "take only 0 are left");
  EXPECT_EQ(error_of([] { Budget(UINT64_MAX).charge(UINT64_MAX, "all"); }), "no error");
  if (!has_zip()) return;
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  const auto load = [&](const std::string& pickle) {
    write(path, make_zip({{"data.pkl", pickle}}, false));
    return error_of([&] { load_pt(path); });
  };
  // A text of 250 bytes that is a million values; four names for each of 15 levels.
  const std::string text = "X" + std::string("\xfa\0\0\0", 4) + std::string(250, 'k');
  std::string texts = "(" + text + std::string("q\0", 2);
  for (int i = 0; i < 1000; ++i) texts += std::string("h\0", 2);
  texts += "tq\1(";
  for (int i = 0; i < 1000; ++i) texts += "h\1";
  EXPECT_THAT(load(texts + "t\x86."), HasSubstr("would take"));
  std::string nested = "(K\1q" + std::string("\0", 1);
  for (char i = 0; i < 15; ++i) {
    nested += "}(";
    for (char k = '0'; k < '4'; ++k) nested += std::string("X\x02\0\0\0k", 6) + k + "h" + i;
    nested += std::string("uq") + static_cast<char>(i + 1);
  }
  EXPECT_THAT(load(nested + "t."), HasSubstr("would take"));
}

/// An entry's size is what the archive's directory claims, and so is its packed size.
TEST(Budget, ArchivesClaimNoMoreThanTheyHold) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  std::string bytes = make_zip({{"a.npy", serialize_npy(zeros({10}))}}, true);
  const size_t directory = bytes.find("PK\1\2");
  ASSERT_NE(directory, std::string::npos);
  for (size_t at : {directory + 20, directory + 24})  // packed and unpacked
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = "\0\0\0\xf0"[i];
  write(folder / "a.npz", bytes);
  EXPECT_THAT(error_of([&] { load_npz(folder / "a.npz"); }),
              testing::AnyOf(HasSubstr("would take"), HasSubstr("cannot read")));
  // What compresses as well as anything can is not refused.
  save_npz({{"zeros", zeros({4 << 20})}}, folder / "z.npz", /*compressed=*/true);
  EXPECT_LT(std::filesystem::file_size(folder / "z.npz"), 20000u);
  EXPECT_EQ(load_npz(folder / "z.npz")[0].second.numel(), 4 << 20);
}

/// Reading a file of many tensors looks each of them up once.
TEST(Npy, ArchivesOfManyArrays) {
  if (!has_zip()) GTEST_SKIP() << "built without libzip";
  const TemporaryFolder folder;
  NamedTensors many;
  for (int i = 0; i < 3000; ++i) many.emplace_back("t" + std::to_string(i), full({1}, i));
  save_npz(many, folder / "many.npz");
  const NamedTensors back = load_npz(folder / "many.npz");
  ASSERT_EQ(back.size(), many.size());
  EXPECT_EQ(back[2999].second.item<float>(), 2999.f);
}

}  // namespace
}  // namespace taeda::io
