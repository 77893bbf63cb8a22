// Packed sequences, captures, pipes and parametrizations in the hands of somebody who errs.
#include "taeda/nn/reparametrize.h"
#include "taeda/taeda.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {
namespace {

namespace R = nn::utils::rnn;

using Tensors = std::vector<Tensor>;

Tensor numbers() { return arange(4.0f); }
Tensor longs(std::vector<int64_t> v) { return tensor(v, kLong); }
nn::Sequential two_layers() { return nn::Sequential(nn::Linear(2, 2), nn::Linear(2, 2)); }

auto lstm_of(const R::PackedSequence& x) { return nn::LSTM(1, 2)->forward_with_packed_input(x); }

/// Does work that is captured.
template <class F>
void capture(const F& work) {
  DeviceGraph graph(kCPU);
  const Tensor x = numbers();
  const GraphCapture recording(graph);
  work(graph, x);
}

const std::vector<Row> wrong_nn = {
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({3, 4})),
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({3, 0})),
            "Length of all samples has to be greater than 0, but found an element in"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({3, -1})),
            "Length of all samples has to be greater than 0, but found an element in"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({1, 3})),
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({3})),
            "Expected `len(lengths)` to be equal to batch_size, but got 1 (batch_size=2)"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), rand({2})),
            "Length of all samples has to be greater than 0, but found an element in"),
    REFUSED(Error, R::pack_padded_sequence(rand({3, 2, 1}), longs({kHuge, 1})),
            "Expected lengths of at most 3, the number of steps of the input, but got"),
    REFUSED(Error, R::pack_padded_sequence(rand({0, 0, 1}), longs({})),
            "Cannot pack empty tensors."),
    REFUSED(Error, R::pack_padded_sequence(scalar_tensor(1), longs({1})),
            "Expected a batch of sequences of at least 2 dimensions, but got 0"),
    ACCEPTED(R::PackedSequence(rand({3}), longs({2, 2})),
             "checked where it is used, as in PyTorch"),
    ACCEPTED(R::PackedSequence(rand({3}), longs({1, 2})),
             "checked where it is used, as in PyTorch"),
    ACCEPTED(R::PackedSequence(rand({3}), longs({-1, 4})),
             "checked where it is used, as in PyTorch"),
    ACCEPTED(R::PackedSequence(rand({3}), rand({2})), "checked where it is used, as in PyTorch"),
    ACCEPTED(R::PackedSequence(Tensor(), longs({1})), "checked where it is used, as in PyTorch"),
    REFUSED(Error, R::PackedSequence(rand({3}), Tensor()),
            "nn::utils::rnn::PackedSequence::PackedSequence(): Expected a tensor, but"),
    REFUSED(IndexError, R::PackedSequence(rand({3}), longs({2, 1}), longs({0, 9})),
            "index 9 is out of bounds for dimension 0 with size 2"),
    REFUSED(IndexError,
            R::pad_packed_sequence(
                R::PackedSequence(rand({3}), longs({2, 1}), longs({0, 1}), longs({0, 9}))),
            "index out of range in self"),
    REFUSED(ValueError,
            R::pad_packed_sequence(R::PackedSequence(rand({3, 1}), longs({2, 1})), false, 0, 1),
            "Expected total_length to be at least the length of the longest sequence in"),
    REFUSED(Error,
            R::pad_packed_sequence(R::PackedSequence(rand({3, 1}), longs({2, 1})), false, 0, kHuge),
            "pad_packed_sequence: integer overflow in the calculation of sizes"),
    REFUSED(Error, R::pad_packed_sequence(R::PackedSequence(rand({3, 1}), longs({kHuge, kHuge}))),
            "PackedSequence: integer overflow in the calculation of sizes"),
    REFUSED(Error, R::pad_packed_sequence(R::PackedSequence(rand({3, 1}), longs({2, 2}))),
            "Expected batch_sizes to sum to the number of rows, 3, but they sum to 4"),
    REFUSED(IndexError, R::invert_permutation(longs({0, 9})),
            "index 9 is out of bounds for dimension 0 with size 2"),
    REFUSED(IndexError, R::invert_permutation(longs({0, -1})),
            "index -1 is out of bounds for dimension 0 with size 2"),
    REFUSED(Error, R::invert_permutation(rand({2})),
            "scatter(): Expected dtype int32/int64 for index"),
    REFUSED(Error, R::pad_sequence({}), "received an empty list of sequences"),
    REFUSED(Error, R::pad_sequence({Tensor()}),
            "nn::utils::rnn::pad_sequence(): Expected a tensor, but got an undefined"),
    REFUSED(IndexError, R::pad_sequence({scalar_tensor(1)}),
            "Dimension specified as 0 but tensor has no dimensions"),
    REFUSED(Error, R::pad_sequence({rand({2, 1}), rand({2, 2})}),
            "The size of tensor a (1) must match the size of tensor b (2) at"),
    REFUSED(Error, R::unpad_sequence(rand({3, 2}), longs({4, 1})),
            "start (0) + length (4) exceeds dimension size (3)."),
    REFUSED(Error, R::unpad_sequence(rand({3, 2}), longs({-1, 1})),
            "narrow(): length must be non-negative."),
    REFUSED(IndexError, R::unpad_sequence(rand({3, 2}), longs({1, 1, 1})),
            "select(): index 2 out of range for tensor of size [3, 2] at dimension 1"),
    REFUSED(Error, R::pack_sequence({}), "received an empty list of sequences"),
    REFUSED(Error, R::pack_sequence({rand({1}), rand({2})}),
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is"),
    REFUSED(Error, R::pack_sequence({rand({0})}), "Cannot pack empty tensors."),
    REFUSED(Error, R::unpack_sequence(R::PackedSequence(rand({3, 1}), longs({5, 1}))),
            "Expected batch_sizes to sum to the number of rows, 3, but they sum to 6"),
    REFUSED(Error, lstm_of(R::PackedSequence(rand({3, 1}), longs({2, 2}))),
            "Expected batch_sizes to sum to the number of rows, 3, but they sum to 4"),
    REFUSED(Error, lstm_of(R::PackedSequence(rand({3, 5}), longs({2, 1}))),
            "input.size(-1) must be equal to input_size. Expected 1, got 5"),
    REFUSED(
        Error,
        nn::GRU(1, 2)->forward_with_packed_input(R::PackedSequence(rand({3, 1}), longs({1, 2}))),
        "Expected batch_sizes to be positive and not to grow"),
    REFUSED(
        IndexError,
        lstm_of(R::PackedSequence(rand({3, 1}), longs({2, 1}), longs({0, 9}), longs({0, 9}))),
        "index out of range in self"),
    REFUSED(Error, lstm_of(R::PackedSequence(rand({3, 1}), longs({INT64_MAX, 3}))),
            "PackedSequence: integer overflow in the calculation of sizes"),
    REFUSED(
        Error,
        nn::LSTM(1, 2)->forward(rand({3, 1, 1}), std::make_tuple(rand({9, 1, 2}), rand({1, 1, 2}))),
        "Expected hidden size [1, 1, 2], got [9, 1, 2]"),
    REFUSED(ValueError, nn::LSTM({.input_size = 0, .hidden_size = 2}),
            "input_size must be greater than zero, but got 0"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = -2}),
            "hidden_size must be greater than zero, but got -2"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = 2, .num_layers = 0}),
            "num_layers must be greater than zero, but got 0"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = 2, .dropout = 2}),
            "dropout should be a number in range [0, 1] representing the probability of"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = 2, .dropout = kNaN}),
            "dropout should be a number in range [0, 1] representing the probability of"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = 2, .proj_size = 2}),
            "proj_size has to be smaller than hidden_size, but got 2 and 2"),
    REFUSED(ValueError, nn::LSTM({.input_size = 1, .hidden_size = 2, .proj_size = -1}),
            "proj_size should be a positive integer or zero to disable projections, but"),
    REFUSED(Error, nn::LSTM({.input_size = kHuge, .hidden_size = 2}),
            "Storage size calculation overflowed with sizes=[8, 4611686018427387904]"),
    REFUSED(Error, nn::GRU({.input_size = 1, .hidden_size = kHuge}),
            "RNN: integer overflow in the calculation of sizes"),
    REFUSED(Error, DeviceGraph(kCPU).replay(),
            "Called CUDAGraph::replay without a preceding successful capture."),
    REFUSED(Error, DeviceGraph(kCPU).capture_end(),
            "Called CUDAGraph::capture_end without a preceding capture_begin."),
    REFUSED(
        Error,
        [] {
          DeviceGraph g(kCPU);
          g.capture_begin();
          g.capture_begin();
        }(),
        "This CUDAGraph instance already owns a captured graph. To capture a new"),
    REFUSED(Error, ([] {
              DeviceGraph g(kCPU), h(kCPU);
              GraphCapture c(g);
              GraphCapture d(h);
            }()),
            "this thread is already capturing a graph"),
    REFUSED(Error, capture([](DeviceGraph& g, const Tensor&) { g.replay(); }),
            "Called CUDAGraph::replay without a preceding successful capture."),
    REFUSED(Error, capture([](DeviceGraph& g, const Tensor&) { g.reset(); }),
            "Called CUDAGraph::reset during its capture."),
    REFUSED(Error, capture([](DeviceGraph&, const Tensor& x) { (void)(x + 1).item(); }),
            "a Tensor with 4 elements cannot be converted to Scalar"),
    REFUSED(Error, capture([](DeviceGraph&, const Tensor& x) { (void)nonzero(x); }),
            "CPU error: operation not permitted when stream is capturing (nonzero,"),
    REFUSED(Error, capture([](DeviceGraph&, const Tensor& x) { (void)poisson(x); }),
            "CPU error: operation not permitted when stream is capturing (poisson): it"),
    REFUSED(Error, capture([](DeviceGraph&, const Tensor&) { throw Error("left"); }),
            "left"),
    REFUSED(
        Error,
        [] {
          DeviceGraph g(kCPU);
          { GraphCapture c(g); }
          g.replay();
          g.capture_begin();
        }(),
        "This CUDAGraph instance already owns a captured graph. To capture a new"),
    REFUSED(Error, DeviceGraph(static_cast<DeviceType>(77)), "no device type has the number 77"),
    REFUSED(ValueError, nn::make_graphed_callables(nn::TensorFunction(), {numbers()})({numbers()}),
            "make_graphed_callables: expected a function, but got an empty one"),
    REFUSED(
        Error,
        nn::make_graphed_callables([](const Tensors& x) { return Tensors{x[0] + 1}; },
                                   {numbers()})({rand({5})}),
        "a graphed callable takes arguments like its samples: argument 0 has shape"),
    REFUSED(
        Error,
        nn::make_graphed_callables([](const Tensors& x) { return Tensors{x[0] + 1}; },
                                   {numbers()})({}),
        "a graphed callable for 1 arguments was called with 0"),
    REFUSED(
        Error,
        [] {
          auto f = nn::make_graphed_callables([](const Tensors& x) { return Tensors{x[0] + 1}; },
                                              {Tensor()});
        }(),
        "nn::make_graphed_callables(): Expected a tensor, but got an undefined"),
    REFUSED(
        Error,
        nn::make_graphed_callables([](const Tensors&) { return Tensors{Tensor()}; },
                                   {numbers()})({numbers()}),
        "nn::make_graphed_callables(): Expected a tensor, but got an undefined"),
    REFUSED(
        Error,
        [] {
          nn::Linear l{nullptr};
          nn::make_graphed_callables<nn::Linear>(l, numbers());
        }(),
        "Accessing empty ModuleHolder"),
    REFUSED(Error, graph_numbers(Device(kCPU), 3, nullptr),
            "graph_numbers: no graph is being captured on cpu by this thread"),
    REFUSED(
        ValueError,
        capture([](DeviceGraph&, const Tensor&) { graph_numbers(Device(kCPU), 2, nullptr); }),
        "graph_numbers: expected a function as fill, but got an empty one"),
    REFUSED(Error, nn::Pipe(nn::Sequential{nullptr}, nn::PipeOptions(2)),
            "Accessing empty ModuleHolder"),
    REFUSED(ValueError, nn::Pipe(two_layers(), nn::PipeOptions(0)),
            "number of chunks must be positive integer"),
    REFUSED(ValueError, nn::Pipe(two_layers(), nn::PipeOptions(-1)),
            "number of chunks must be positive integer"),
    REFUSED(ValueError, nn::Pipe(two_layers(), nn::PipeOptions(2).checkpoint("often")),
            "checkpoint is not one of 'always', 'except_last', or 'never'"),
    REFUSED(Error, nn::Pipe(two_layers(), nn::PipeOptions(2))->forward(Tensor()),
            "nn::PipeImpl::run(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(Error, nn::Pipe(two_layers(), nn::PipeOptions(2))->forward(scalar_tensor(1.f)),
            "chunk expects at least a 1-dimensional tensor"),
    REFUSED(Error, nn::Pipe(two_layers(), nn::PipeOptions(2))->forward(rand({3, 5})),
            "mat1 and mat2 shapes cannot be multiplied (2x5 and 2x2)"),
    REFUSED(
        ValueError,
        nn::Pipe(two_layers(), nn::PipeOptions(2))->train_step(rand({4, 2}), rand({4, 2}), nullptr),
        "Pipe: train_step expected a loss function, but got an empty one"),
    REFUSED(ValueError,
            nn::Pipe(two_layers(), nn::PipeOptions(2))
                ->train_step(rand({4, 2}), rand({3, 2}),
                             [](const Tensor& a, const Tensor& b) { return (a - b).sum(); }),
            "Expected input batch_size (4) to match target batch_size (3)."),
    REFUSED(Error,
            nn::Pipe(two_layers(), nn::PipeOptions(2))
                ->train_step(rand({4, 2}), rand({4, 2}),
                             [](const Tensor&, const Tensor&) { return Tensor(); }),
            "expected the loss to be a scalar, but it is undefined"),
    REFUSED(Error,
            nn::Pipe(two_layers(), nn::PipeOptions(2))
                ->train_step(rand({4, 2}), rand({4, 2}),
                             [](const Tensor& a, const Tensor& b) { return a - b; }),
            "expected the loss to be a scalar, but it has shape [2, 2]"),
    REFUSED(IndexError, (*nn::Pipe(two_layers(), nn::PipeOptions(2)))[9], "Index out of range"),
    REFUSED(Error, nn::Pipe(two_layers(), nn::PipeOptions(2))->report(),
            "Pipe: there is no report before the first step"),
    REFUSED(Error, nn::WithDevice(nn::AnyModule(), kCPU),
            "Cannot call ptr() on an empty AnyModule"),
    REFUSED(ValueError, nn::balance_costs({}, 2),
            "sequence is shorter than intended partitions (0 < 2)"),
    REFUSED(ValueError, nn::balance_costs({1, 2}, 0),
            "partitions must be a positive integer (0 < 1)"),
    REFUSED(ValueError, nn::balance_costs({1, 2}, 3),
            "sequence is shorter than intended partitions (2 < 3)"),
    REFUSED(ValueError, nn::balance_costs({1, kNaN}, 2),
            "costs must be numbers that are not negative, got nan"),
    REFUSED(ValueError, nn::balance_costs({1, -2}, 2),
            "costs must be numbers that are not negative, got -2"),
    REFUSED(ValueError, nn::balance_costs({1, 2}, kHuge),
            "sequence is shorter than intended partitions (2 < 4611686018427387904)"),
    REFUSED(ValueError, nn::balance_by_parameters(0, two_layers()),
            "partitions must be a positive integer (0 < 1)"),
    REFUSED(Error, nn::balance_by_time(2, two_layers(), Tensor()),
            "nn::balance_by_time(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(ValueError, nn::partition(two_layers(), {}),
            "partitions must be a positive integer (0 < 1)"),
    REFUSED(ValueError, nn::partition(two_layers(), {kCPU, kCPU}, {1}),
            "partition: got 1 numbers of modules for 2 devices"),
    REFUSED(IndexError, nn::partition(two_layers(), {kCPU, kCPU}, {3, -1}), "Index out of range"),
    REFUSED(Error, nn::partition(two_layers(), {kCPU, kCPU}, {INT64_MAX, 3}),
            "partition: integer overflow"),
    REFUSED(Error, nn::partition(nn::Sequential{nullptr}, {kCPU}), "Accessing empty ModuleHolder"),
    REFUSED(ValueError, nn::AdaptiveLogSoftmaxWithLoss(2, 4, std::vector<int64_t>{}),
            "cutoffs should be a sequence of unique, positive integers sorted in an"),
    REFUSED(ValueError, nn::AdaptiveLogSoftmaxWithLoss(2, 4, std::vector<int64_t>{3, 2}),
            "cutoffs should be a sequence of unique, positive integers sorted in an"),
    REFUSED(ValueError, nn::AdaptiveLogSoftmaxWithLoss(2, 4, std::vector<int64_t>{9}),
            "cutoffs should be a sequence of unique, positive integers sorted in an"),
    REFUSED(Error,
            nn::AdaptiveLogSoftmaxWithLoss(
                {.in_features = 2, .n_classes = 4, .cutoffs = {2}, .div_value = 0}),
            "Trying to create tensor with negative dimension -9223372036854775808:"),
    REFUSED(Error,
            nn::AdaptiveLogSoftmaxWithLoss(
                {.in_features = 2, .n_classes = 4, .cutoffs = {2}, .div_value = kNaN}),
            "Trying to create tensor with negative dimension -9223372036854775808:"),
    REFUSED(Error,
            nn::AdaptiveLogSoftmaxWithLoss(2, 4, std::vector<int64_t>{2})
                ->forward(rand({3, 2}), longs({0, 1, 9})),
            "Target values should be in [0, 3], but values in range [0, 9] were found. "),
    REFUSED(Error,
            nn::AdaptiveLogSoftmaxWithLoss(2, 4, std::vector<int64_t>{2})
                ->forward(rand({3, 2}), longs({0, -1, 1})),
            "Target values should be in [0, 3], but values in range [-1, 1] were found. "),
    REFUSED(Error, nn::utils::weight_norm(nn::Linear{nullptr}), "Accessing empty ModuleHolder"),
    REFUSED(IndexError, nn::utils::weight_norm(nn::Linear(2, 2), 7),
            "Dimension out of range (expected to be in range of [-2, 1], but got 7)"),
    REFUSED(ValueError, nn::utils::spectral_norm(nn::Linear(2, 2), 0),
            "Expected n_power_iterations to be positive, but got n_power_iterations=0"),
    REFUSED(IndexError, nn::utils::spectral_norm(nn::Linear(2, 2), 1, 1e-12, 9),
            "Dimension out of range (expected to be in range of [-2, 1], but got 9)"),
    REFUSED(
        Error,
        [] {
          nn::Linear l(2, 2);
          auto a = nn::utils::weight_norm(l);
          auto b = nn::utils::weight_norm(l);
        }(),
        "Parameter 'weight_g' already defined"),
    REFUSED(
        Error,
        [] {
          nn::Linear l{nullptr};
          nn::summary(l, numbers());
        }(),
        "Accessing empty ModuleHolder"),
    REFUSED(
        Error,
        [] {
          nn::Linear l(2, 2);
          nn::summary(l, IntArrayRef{-1, 2});
        }(),
        "Trying to create tensor with negative dimension -1: [-1, 2]"),
    REFUSED(
        Error,
        [] {
          nn::Linear l(2, 2);
          nn::summary(l, IntArrayRef{kHuge, 2});
        }(),
        "Storage size calculation overflowed with sizes=[4611686018427387904, 2]"),
    REFUSED(ValueError, nn::TransformerEncoderLayer({.d_model = 5, .nhead = 2}),
            "embed_dim must be divisible by num_heads"),
    REFUSED(ValueError, nn::TransformerEncoderLayer({.d_model = 4, .nhead = 0}),
            "embed_dim and num_heads must be greater than 0, got embed_dim=4 and"),
    REFUSED(ValueError, nn::MultiheadAttention({.embed_dim = 4, .num_heads = -2}),
            "embed_dim and num_heads must be greater than 0, got embed_dim=4 and"),
    REFUSED(Error, nn::parallel::scatter_tensor(numbers(), {}),
            "scatter: expected at least one device"),
    REFUSED(Error, nn::parallel::scatter_tensor(Tensor(), {kCPU}),
            "chunk(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(Error, nn::parallel::gather_tensors({}, kCPU), "gather: expected at least one tensor"),
    REFUSED(Error, nn::DataParallel<nn::LinearImpl>(nn::Linear{nullptr}),
            "Accessing empty ModuleHolder"),
};

TEST(WrongSequences, AreRefused) { check(wrong_nn); }

}  // namespace
}  // namespace taeda::wrong
