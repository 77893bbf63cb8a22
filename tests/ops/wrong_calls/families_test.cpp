// Every row of the op table in the wrong hands: without a tensor, with tensors of two devices, with
// shapes that do not broadcast. Each call is refused by the library's own error, in words that say
// what was given; calls that PyTorch accepts are accepted, and listed here.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "tests/ops/op_inputs.h"

namespace taeda::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Words = ::testing::Matcher<std::string>;

/// A row's name and the input that is wrong: "conv2d 2".
std::string place(const OpRow& row, size_t k) { return row.name + " " + std::to_string(k); }

/// What the call says. An exception that is not the library's is a failure.
std::string refusal(const OpRow& row, const Tensors& in) {
  try {
    row.call(in);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

/// Whether optional inputs stand at this place: without them PyTorch computes, too.
bool may_be_missing(const OpRow& row, size_t k) {
  static const std::map<std::string, std::set<size_t>> optional = {
      {"batch_norm", {1, 2}},
      {"batch_norm.eval", {1, 2}},
      {"layer_norm", {1, 2}},
      {"rms_norm", {1}},
      {"group_norm", {1, 2}},
      {"instance_norm", {1, 2}},
      {"instance_norm.running", {1, 2}},
      {"linear.bias", {2}},
      {"lstm_cell", {5, 6}},
      {"gru_cell", {4, 5}},
      {"rnn_tanh_cell", {4, 5}},
      {"rnn_relu_cell", {4, 5}},
      {"conv1d", {2}},
      {"conv2d", {2}},
      {"conv2d.padded", {2}},
      {"conv2d.groups", {2}},
      {"conv2d.pointwise", {2}},
      {"conv3d", {2}},
      {"conv_transpose1d", {2}},
      {"conv_transpose2d", {2}},
      {"conv_transpose2d.strided", {2}},
      {"conv_transpose3d", {2}},
      {"histogram", {1}},
      {"histogramdd", {1}},
      {"stft", {1}},
      {"istft", {2}},
      {"scaled_dot_product_attention.where", {3}},
      {"scaled_dot_product_attention.added", {3}},
  };
  const auto found = optional.find(row.name);
  return found != optional.end() && found->second.contains(k);
}

/// Whether one input may be on the host while the others are on a device (`k` is on the device).
bool may_be_apart(const OpRow& row, size_t k) {
  // Copies go from device to device; indices on the host are taken to the tensor's device.
  static const std::set<std::string> copies = {
      "copy",          "copy.broadcast",   "fill.tensor",       "select_scatter",
      "slice_scatter", "diagonal_scatter", "as_strided_scatter"};
  static const std::set<std::string> apart = {"index 0", "masked_select 0", "masked_fill.tensor 2"};
  return copies.contains(row.name) || apart.contains(place(row, k));
}

/// Calls `f(row, inputs)` for every row that works on this machine, and counts what it returns.
template <class F>
int over_rows(F&& f) {
  int calls = 0;
  for (const OpRow& row : all_rows())
    if (!row.unavailable || row.unavailable(Device(kCPU)).empty())
      calls += f(row, make_inputs(row, row.samples[0], dtypes_of(row)[0]));
  return calls;
}

/// The error names the operation; where a caller's frame was given up for the call in its last
/// line, nobody is left to name.
TEST(WrongFamilies, AnInputThatIsNoTensor) {
  int missing = 0, named = 0;
  const int calls = over_rows([&](const OpRow& row, const Tensors& in) {
    for (size_t k = 0; k < in.size(); ++k) {
      SCOPED_TRACE(place(row, k));
      Tensors some = in;
      some[k] = Tensor();
      const std::string text = refusal(row, some);
      EXPECT_THAT(text, may_be_missing(row, k) ? Words("accepted") : HasSubstr("undefined Tensor"));
      missing += text != "accepted";
      named += text.find("(): Expected a tensor") != std::string::npos;
    }
    return static_cast<int>(in.size());
  });
  EXPECT_GT(calls, 800);
  EXPECT_GT(2 * named, missing) << "of " << missing << " errors " << named << " name an operation";
}

TEST(WrongFamilies, InputsOfTwoDevices) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const int calls = over_rows([](const OpRow& row, const Tensors& in) {
    if (in.size() < 2) return 0;
    for (size_t k = 0; k < in.size(); ++k) {
      SCOPED_TRACE(place(row, k));
      Tensors some = in;
      some[k] = in[k].to(Device("sim:0"));
      EXPECT_THAT(refusal(row, some), may_be_apart(row, k)
                                          ? Words("accepted")
                                          : AllOf(HasSubstr("sim:0"), HasSubstr("cpu")));
    }
    return static_cast<int>(in.size());
  });
  EXPECT_GT(calls, 500);
}

TEST(WrongFamilies, ShapesThatDoNotBroadcast) {
  const int calls = over_rows([](const OpRow& row, const Tensors& in) {
    if (!row.specials || in.size() < 2) return 0;  // elementwise rows
    for (size_t k = 0; k < in.size(); ++k) {
      SCOPED_TRACE(place(row, k));
      Tensors some = in;
      some[k] = in[k].repeat({1, 2});
      EXPECT_THAT(refusal(row, some), AllOf(HasSubstr("(8)"), HasSubstr("(4)")));
    }
    return static_cast<int>(in.size());
  });
  EXPECT_GT(calls, 50);
}

/// Whatever else is wrong with an input - its dtype, its dimensions, that it is empty - a row takes
/// it or refuses it by the library's own error.
TEST(WrongFamilies, AnyOtherInputIsTakenOrRefused) {
  const int calls = over_rows([](const OpRow& row, const Tensors& in) {
    int made = 0;
    for (size_t k = 0; k < in.size(); ++k) {
      const Tensor flat = in[k].flatten();
      Tensors others = {flat.narrow(0, 0, 0), flat.expand({1, 1, 1, 1, 1, 1, flat.numel()}),
                        flat.expand({13, flat.numel()}), in[k].unsqueeze(0)};
      if (flat.numel() > 0) others.push_back(flat[0]);
      for (const ScalarType t : {kComplexFloat, kBool, kLong, kHalf, kChar})
        others.push_back(in[k].to(t));
      for (const Tensor& other : others) {
        SCOPED_TRACE(::testing::Message()
                     << place(row, k) << " " << other.dtype() << " of " << other.sizes());
        Tensors some = in;
        some[k] = other;
        EXPECT_THAT(refusal(row, some).size(), ::testing::Gt(7u)) << "too few words";
        ++made;
      }
    }
    return made;
  });
  EXPECT_GT(calls, 8000);
}

}  // namespace
}  // namespace taeda::testing
