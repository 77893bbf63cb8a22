// Graphs whose nodes have inputs and attributes that they cannot have.
#include "tests/wrong_calls.h"

#include "taeda/onnx/file.h"
#include "taeda/onnx/onnx.h"
#include "taeda/taeda.h"

namespace taeda::wrong {
namespace {

Tensor numbers() { return arange(4.0f); }
Tensor longs(std::vector<int64_t> v) { return tensor(v, kLong); }
/// A graph of one node that reads "x" and gives "y".
onnx::Graph graph(std::string op, std::vector<std::string> in = {"x"},
                  std::vector<std::string> out = {"y"},
                  std::map<std::string, onnx::Attribute> attributes = {},
                  std::vector<std::pair<std::string, Tensor>> initializers = {}) {
  onnx::Graph g;
  g.nodes = {{op, in, out, attributes, "n", "", ""}};
  g.inputs = {{"x", kFloat, true, {{2, ""}, {2, ""}}}};
  g.outputs = {{"y", kFloat, false, {}}};
  g.initializers = initializers;
  return g;
}
std::vector<Tensor> run(onnx::Graph g, Tensor x = rand({2, 2})) {
  return onnx::ImportedModel(std::move(g))->run({x});
}

const std::vector<Row> wrong_onnx_1 = {
    REFUSED(NotImplementedError, run(graph("Nope")),
            "Taeda does not run the operator Nope 'n'; docs/onnx.md lists those that it"),
    REFUSED(Error, run(graph("Add", {"x", "nowhere"})),
            "Add 'n': its input 'nowhere' is not defined before it"),
    REFUSED(Error, run(graph("Add")), "its input #1 is missing"),
    REFUSED(Error, run(graph("Add", {"x", ""})), "its input #1 is missing"),
    REFUSED(Error, run(graph("Relu", {}, {"y"})), "its input #0 is missing"),
    REFUSED(Error, run(graph("Relu", {"x"}, {})), "no operator gives the output 'y'"),
    REFUSED(Error, run(graph("Relu", {"x"}, {"x"})),
            "the value 'x', which Relu 'n' defines, is defined already"),
    REFUSED(Error, run(graph("Relu", {"y"}, {"y"})),
            "Relu 'n': its input 'y' is not defined before it"),
    REFUSED(Error, run(graph("Relu", {"x"}, {"y", "y"})),
            "the value 'y', which Relu 'n' defines, is defined already"),
    REFUSED(Error, run(graph("Reshape", {"x", "s"}, {"y"}, {}, {{"s", longs({kHuge, 4})}})),
            "shape '[4611686018427387904, 4]' is invalid for input of size 4"),
    REFUSED(Error, run(graph("Reshape", {"x", "s"}, {"y"}, {}, {{"s", longs({-1, -1})}})),
            "only one dimension can be inferred"),
    REFUSED(Error, run(graph("Reshape", {"x", "s"}, {"y"}, {}, {{"s", numbers()}})),
            "its input #1 must be a list of at most 64 whole numbers, got float32 of"),
    REFUSED(Error, run(graph("Reshape", {"x", "s"}, {"y"}, {}, {{"s", longs({0, 0, 0, 0})}})),
            "it keeps dimension 2 of sizes [2, 2]"),
    REFUSED(Error, run(graph("Expand", {"x", "s"}, {"y"}, {}, {{"s", longs({kHuge, 2, 2})}})),
            "numel: integer multiplication overflow"),
    REFUSED(Error, run(graph("Expand", {"x", "s"}, {"y"}, {}, {{"s", longs({-3, 2})}})),
            "The size of tensor a (2) must match the size of tensor b (-3) at"),
    REFUSED(Error, run(graph("Tile", {"x", "s"}, {"y"}, {}, {{"s", longs({kHuge, kHuge})}})),
            "repeat: integer overflow"),
    REFUSED(Error, run(graph("Tile", {"x", "s"}, {"y"}, {}, {{"s", longs({-1, 1})}})),
            "Trying to create tensor with negative dimension -1: [-1, 1]"),
    ACCEPTED(run(graph("Slice", {"x", "a", "b"}, {"y"}, {},
                       {{"a", longs({INT64_MIN})}, {"b", longs({INT64_MAX})}})),
             "wraps around, as PyTorch has it"),
    REFUSED(
        IndexError,
        run(graph("Slice", {"x", "a", "b", "c", "d"}, {"y"}, {},
                  {{"a", longs({0})}, {"b", longs({1})}, {"c", longs({9})}, {"d", longs({1})}})),
        "Dimension out of range (expected to be in range of [-2, 1], but got 9)"),
    REFUSED(
        Error,
        run(graph("Slice", {"x", "a", "b", "c", "d"}, {"y"}, {},
                  {{"a", longs({0})}, {"b", longs({1})}, {"c", longs({0})}, {"d", longs({0})}})),
        "its step is 0"),
    REFUSED(Error,
            run(graph("Slice", {"x", "a", "b", "c", "d"}, {"y"}, {},
                      {{"a", longs({INT64_MAX})},
                       {"b", longs({INT64_MIN})},
                       {"c", longs({0})},
                       {"d", longs({INT64_MIN})}})),
            "its step is -9223372036854775808"),
    REFUSED(Error,
            run(graph("Slice", {"x", "a", "b"}, {"y"}, {},
                      {{"a", longs({0, 0, 0})}, {"b", longs({1})}})),
            "its starts, ends, axes and steps are not as many"),
    REFUSED(IndexError, run(graph("Gather", {"x", "i"}, {"y"}, {}, {{"i", longs({9})}})),
            "index out of range in self"),
    REFUSED(IndexError,
            run(graph("Gather", {"x", "i"}, {"y"}, {{"axis", int64_t(7)}}, {{"i", longs({0})}})),
            "Dimension out of range (expected to be in range of [-2, 1], but got 7)"),
    REFUSED(NotImplementedError,
            run(graph("GatherND", {"x", "i"}, {"y"}, {}, {{"i", longs({9, 9}).view({1, 2})}})),
            "Taeda does not run the operator GatherND 'n'; docs/onnx.md lists those that"),
};

const std::vector<Row> wrong_onnx_2 = {
    REFUSED(IndexError,
            run(graph("GatherElements", {"x", "i"}, {"y"}, {}, {{"i", longs({9}).view({1, 1})}})),
            "index 9 is out of bounds for dimension 0 with size 2"),
    REFUSED(NotImplementedError,
            run(graph("ScatterND", {"x", "i", "u"}, {"y"}, {},
                      {{"i", longs({9, 9}).view({1, 2})}, {"u", numbers()}})),
            "Taeda does not run the operator ScatterND 'n'; docs/onnx.md lists those"),
    REFUSED(
        IndexError,
        run(graph("ScatterElements", {"x", "i", "x"}, {"y"}, {}, {{"i", longs({9}).view({1, 1})}})),
        "index 9 is out of bounds for dimension 0 with size 2"),
    REFUSED(Error, run(graph("Pad", {"x", "p"}, {"y"}, {}, {{"p", longs({kHuge, 0, 0, kHuge})}})),
            "Storage size calculation overflowed with sizes=[4611686018427387906, 46116860184273"),
    REFUSED(Error, run(graph("Pad", {"x", "p"}, {"y"}, {}, {{"p", longs({1})}})),
            "it has 1 pads for 2 axes"),
    REFUSED(NotImplementedError,
            run(graph("Pad", {"x", "p"}, {"y"}, {{"mode", std::string("odd")}},
                      {{"p", longs({0, 0, 1, 1})}})),
            "its mode 'odd' is unknown"),
    REFUSED(Error, run(graph("Transpose", {"x"}, {"y"}, {{"perm", std::vector<int64_t>{0, 0}}})),
            "permute(): duplicate dims are not allowed."),
    REFUSED(Error, run(graph("Transpose", {"x"}, {"y"}, {{"perm", std::vector<int64_t>{0}}})),
            "permute(sparse_coo): number of dimensions in the tensor input does not"),
    REFUSED(Error, run(graph("Transpose", {"x"}, {"y"}, {{"perm", std::string("x")}})),
            "its attribute 'perm' is not a list of whole numbers"),
    REFUSED(IndexError, run(graph("Concat", {"x", "x"}, {"y"}, {{"axis", int64_t(9)}})),
            "Dimension out of range (expected to be in range of [-2, 1], but got 9)"),
    REFUSED(Error, run(graph("Concat", {"x", "x"})), "it does not say along which axis"),
    REFUSED(Error, run(graph("Split", {"x", "s"}, {"y", "z"}, {}, {{"s", longs({5, -3})}})),
            "split_with_sizes expects split_sizes have only non-negative entries, but"),
    REFUSED(Error, run(graph("Squeeze", {"x", "s"}, {"y"}, {}, {{"s", longs({0})}})),
            "dimension 0 of sizes [2, 2] is not 1"),
    REFUSED(IndexError, run(graph("Unsqueeze", {"x", "s"}, {"y"}, {}, {{"s", longs({99})}})),
            "Dimension out of range (expected to be in range of [-3, 2], but got 99)"),
    REFUSED(Error, run(graph("Cast", {"x"}, {"y"}, {{"to", int64_t(99)}})),
            "ONNX's type 99 is none that Taeda has a dtype for"),
    REFUSED(Error, run(graph("Cast")), "it does not say what to cast to"),
    REFUSED(Error, run(graph("ConstantOfShape", {"s"}, {"y"}, {}, {{"s", longs({kHuge, 4})}})),
            "numel: integer multiplication overflow"),
    REFUSED(Error, run(graph("ConstantOfShape", {"s"}, {"y"}, {}, {{"s", longs({-1})}})),
            "The expanded size of the tensor (-1) isn't allowed in a leading,"),
    REFUSED(Error,
            run(graph("Range", {"a", "b", "c"}, {"y"}, {},
                      {{"a", longs({0})[0]}, {"b", longs({kHuge})[0]}, {"c", longs({1})[0]}})),
            "Storage size calculation overflowed with sizes=[4611686018427387904]"),
    REFUSED(Error,
            run(graph("Range", {"a", "b", "c"}, {"y"}, {},
                      {{"a", longs({0})[0]}, {"b", longs({5})[0]}, {"c", longs({0})[0]}})),
            "step must be nonzero"),
    REFUSED(
        Error,
        run(graph("OneHot", {"i", "d", "v"}, {"y"}, {},
                  {{"i", longs({0})}, {"d", longs({kHuge})}, {"v", numbers().narrow(0, 0, 2)}})),
        "Storage size calculation overflowed with sizes=[4611686018427387904]"),
    REFUSED(Error,
            run(graph("OneHot", {"i", "d", "v"}, {"y"}, {},
                      {{"i", longs({0})}, {"d", longs({3})}, {"v", numbers().narrow(0, 0, 1)}})),
            "it has the depth 3 and 1 values"),
    REFUSED(Error, run(graph("TopK", {"x", "k"}, {"y"}, {}, {{"k", longs({9})}})),
            "selected index k out of range"),
    REFUSED(Error, run(graph("TopK", {"x", "k"}, {"y"}, {}, {{"k", longs({-1})}})),
            "selected index k out of range"),
    REFUSED(Error, run(graph("Conv", {"x", "x"})), "its weights have sizes [2, 2]"),
};

const std::vector<Row> wrong_onnx_3 = {
    REFUSED(Error,
            run(graph("Conv", {"x", "w"}, {"y"}, {{"pads", std::vector<int64_t>{1}}},
                      {{"w", rand({1, 2, 3, 3})}}),
                rand({1, 2, 4, 4})),
            "the input 'x' must be float32 [2, 2], got float32 [1, 2, 4, 4]"),
    REFUSED(
        Error,
        run(graph("Conv", {"x", "w"}, {"y"}, {{"group", int64_t(0)}}, {{"w", rand({1, 2, 3, 3})}}),
            rand({1, 2, 4, 4})),
        "the input 'x' must be float32 [2, 2], got float32 [1, 2, 4, 4]"),
    REFUSED(Error, run(graph("MaxPool"), rand({1, 1, 4, 4})),
            "the input 'x' must be float32 [2, 2], got float32 [1, 1, 4, 4]"),
    REFUSED(Error,
            run(graph("MaxPool", {"x"}, {"y"}, {{"kernel_shape", std::vector<int64_t>{kHuge, 1}}})),
            "it takes images of one to three dimensions, got sizes [2, 2]"),
    REFUSED(Error,
            run(graph("MaxPool", {"x"}, {"y"}, {{"kernel_shape", std::vector<int64_t>{0, 0}}})),
            "it takes images of one to three dimensions, got sizes [2, 2]"),
    REFUSED(Error,
            run(graph("AveragePool", {"x"}, {"y"}, {{"kernel_shape", std::vector<int64_t>{2}}})),
            "it takes images of one to three dimensions, got sizes [2, 2]"),
    REFUSED(Error, run(graph("Gemm", {"x", "x"}, {"y"}, {{"transA", std::string("yes")}})),
            "its attribute 'transA' is not a whole number"),
    REFUSED(Error, run(graph("MatMul", {"x", "s"}, {"y"}, {}, {{"s", rand({3, 3})}})),
            "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x3)"),
    REFUSED(Error, run(graph("Einsum", {"x"}, {"y"}, {{"equation", std::string("ijk->")}})),
            "einsum(): the number of subscripts in the equation (3) does not match the"),
    REFUSED(Error, run(graph("Resize", {"x", "", "s"}, {"y"}, {}, {{"s", tensor({1e30f, 1.f})}})),
            "it takes images, got sizes [2, 2]"),
    REFUSED(Error,
            run(graph("Resize", {"x", "", "s"}, {"y"}, {}, {{"s", tensor({float(kNaN), 1.f})}})),
            "it takes images, got sizes [2, 2]"),
    REFUSED(Error,
            run(graph("Resize", {"x", "", "", "s"}, {"y"}, {}, {{"s", longs({kHuge, kHuge})}})),
            "it takes images, got sizes [2, 2]"),
    REFUSED(Error, run(graph("DepthToSpace", {"x"}, {"y"}, {{"blocksize", int64_t(0)}})),
            "it cannot cut sizes [2, 2] into blocks of 0"),
    REFUSED(NotImplementedError, run(graph("SpaceToDepth", {"x"}, {"y"}, {{"blocksize", kHuge}})),
            "Taeda does not run the operator SpaceToDepth 'n'; docs/onnx.md lists those"),
    REFUSED(Error, run(graph("LSTM", {"x", "x", "x"})),
            "it takes [T, N, in] and weights of 1 direction(s), got sizes [2, 2], [2, 2]"),
    REFUSED(NotImplementedError,
            run(graph("GRU", {"x", "x", "x"}, {"y"}, {{"hidden_size", kHuge}})),
            "its reset gate comes before the product (linear_before_reset = 0)"),
    REFUSED(IndexError, run(graph("CumSum", {"x", "a"}, {"y"}, {}, {{"a", longs({9})}})),
            "Dimension out of range (expected to be in range of [-2, 1], but got 9)"),
    ACCEPTED(run(graph("Trilu", {"x", "k"}, {"y"}, {}, {{"k", longs({INT64_MIN})[0]}})),
             "wraps around, as PyTorch has it"),
    REFUSED(Error, run(graph("ReduceSum", {"x", "a"}, {"y"}, {}, {{"a", longs({0, 0})}})),
            "dim 0 appears multiple times in the list of dims"),
    REFUSED(IndexError, run(graph("Softmax", {"x"}, {"y"}, {{"axis", int64_t(-9)}})),
            "Dimension out of range (expected to be in range of [-2, 1], but got -9)"),
    REFUSED(Error, run(graph("BatchNormalization", {"x", "x", "x", "x", "x"})),
            "running_mean should contain 2 elements not 4"),
    REFUSED(IndexError, run(graph("LayerNormalization", {"x", "x"}, {"y"}, {{"axis", int64_t(9)}})),
            "Dimension out of range (expected to be in range of [-2, 1], but got 9)"),
    REFUSED(ValueError, run(graph("InstanceNormalization", {"x", "x", "x"})),
            "Expected more than 1 spatial element when training, got input size [2, 2]"),
    REFUSED(NotImplementedError, run(graph("Constant", {}, {"y"})),
            "its value is no tensor of numbers"),
    REFUSED(NotImplementedError, run(graph("Constant", {}, {"y"}, {{"value", Tensor()}})),
            "the output #0 of Constant 'n' is used, which Taeda does not compute"),
};

const std::vector<Row> wrong_onnx_4 = {
    REFUSED(Error, run(graph("Identity", {"s"}, {"y"}, {}, {{"s", Tensor()}})),
            "onnx::ImportedModelImpl::ImportedModelImpl(): Expected a tensor, but got an"),
    REFUSED(NotImplementedError, run(graph("If", {"x"})),
            "Taeda does not run the operator If 'n'; docs/onnx.md lists those that it"),
    REFUSED(NotImplementedError, run(graph("Loop", {"x", "x", "x"})),
            "Taeda does not run the operator Loop 'n'; docs/onnx.md lists those that it"),
    REFUSED(Error, run(graph("Relu"), Tensor()), "the input 'x' is undefined"),
    REFUSED(Error, run(graph("Relu"), rand({7})),
            "the input 'x' must be float32 [2, 2], got float32 [7]"),
    REFUSED(Error, run(graph("Relu"), longs({1})),
            "the input 'x' must be float32 [2, 2], got int64 [1]"),
    REFUSED(Error, onnx::ImportedModel(graph("Relu"))->run({}),
            "the model takes 1 input(s), got 0"),
    REFUSED(Error, onnx::ImportedModel(graph("Relu"))->run({numbers(), numbers(), numbers()}),
            "the model takes 1 input(s), got 3"),
    REFUSED(
        Error, onnx::ImportedModel { nullptr } -> run({}), "Accessing empty ModuleHolder"),
    REFUSED(Error, onnx::write_graph(graph("Relu", {"x"}, {"y"}, {{"a", Tensor()}})),
            "detach(): Expected a tensor, but got an undefined Tensor"),
};

TEST(WrongGraphs, AreRefused) {
  check(wrong_onnx_1);
  check(wrong_onnx_2);
  check(wrong_onnx_3);
  check(wrong_onnx_4);
}

}  // namespace
}  // namespace taeda::wrong
