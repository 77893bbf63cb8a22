// What is written for TensorBoard, drawn and shown, with numbers, pictures and paths that are none.
#include "tests/wrong_calls.h"

#include "taeda/log/chart.h"
#include "taeda/log/event_file.h"
#include "taeda/log/json_lines.h"
#include "taeda/log/progress.h"
#include "taeda/log/record_file.h"
#include "taeda/log/run_manager.h"
#include "taeda/taeda.h"
#include "tests/io/temporary_folder.h"

namespace taeda::wrong {
namespace {

using namespace logging;

std::string runs() {
  static const TemporaryFolder folder;
  return folder / "runs";
}

SummaryWriter writer() { return SummaryWriter(runs()); }
SummaryWriter& moved() {
  static SummaryWriter w(runs());
  static SummaryWriter o = std::move(w);
  return w;
}
Chart chart(std::vector<double> x, std::vector<double> y) {
  Chart c;
  c.curves.push_back({"a", x, y});
  return c;
}
RunManager& manager() {
  static RunManager m({.tensorboard = false, .out = nullptr});
  return m;
}
Run run() { return RunBuilder::get_runs({{"lr", {0.1}}})[0]; }

const std::vector<Row> rows_1 = {
    REFUSED(Error, SummaryWriter("/proc/nothing"),
            "cannot make the folder /proc/nothing: No such file or directory"),
    REFUSED(Error, SummaryWriter("/dev/null"), "cannot make the folder /dev/null: Not a directory"),
    REFUSED(ValueError, SummaryWriter({.log_dir = runs(), .max_queue = -1}),
            "max_queue must be positive, got -1"),
    REFUSED(ValueError, SummaryWriter({.log_dir = runs(), .max_queue = 0}),
            "max_queue must be positive, got 0"),
    REFUSED(ValueError, SummaryWriter({.log_dir = runs(), .flush_secs = -1}),
            "flush_secs must be positive, got -1"),
    REFUSED(ValueError, SummaryWriter({.log_dir = runs(), .flush_secs = kNaN}),
            "flush_secs must be positive, got nan"),
    ACCEPTED(SummaryWriter({.log_dir = runs(), .flush_secs = HUGE_VAL}),
             "written when the queue is full"),
    REFUSED(ValueError, SummaryWriter({.log_dir = runs(), .flush_secs = 0}),
            "flush_secs must be positive, got 0"),
    REFUSED(Error, SummaryWriter({.log_dir = runs(), .filename_suffix = "/../x"}),
            "/../x: No such file or directory"),
    ACCEPTED(SummaryWriter({.log_dir = runs(), .purge_step = -5}), "PyTorch accepts it"),
    REFUSED(ValueError, moved().add_scalar("a", 1.0), "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().add_histogram("a", ones({2})),
            "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().add_text("a", "b"), "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().flush(), "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().close(), "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().get_logdir(), "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().add_image("a", ones({3, 2, 2})),
            "SummaryWriter: this one was moved from"),
    REFUSED(ValueError, moved().add_graph(nn::Linear(2, 2), ones({2})),
            "SummaryWriter: this one was moved from"),
    ACCEPTED(writer().add_scalar("", 1.0), "PyTorch accepts it"),
    ACCEPTED(writer().add_scalar("a", kNaN), "PyTorch accepts it: a loss may be nan"),
    REFUSED(Error, writer().add_scalar("a", ones({2})),
            "a Tensor with 2 elements cannot be converted to Scalar"),
    REFUSED(
        Error, writer().add_scalar("a", Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, writer().add_scalar("a", tensor(std::complex<float>(1, 2))),
            "value cannot be converted to type double without overflow"),
    ACCEPTED(writer().add_scalar("a", 1.0, -3), "PyTorch accepts it"),
    ACCEPTED(writer().add_scalar("a", 1.0, 3, kNaN), "PyTorch accepts it"),
    ACCEPTED(writer().add_scalars("a", {}), "PyTorch accepts it"),
    REFUSED(
        Error, writer().add_histogram("a", Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(ValueError, writer().add_histogram("a", ones({0})), "The input has no element."),
    ACCEPTED(writer().add_histogram("a", full({2}, kNaN)), "nan is not counted"),
    ACCEPTED(writer().add_histogram("a", full({2}, HUGE_VAL)), "counted in the outermost bucket"),
    REFUSED(TypeError, writer().add_histogram("a", zeros({2}, kComplexFloat)),
            "add_histogram: complex numbers have no order"),
    REFUSED(ValueError, writer().add_histogram("a", ones({2}), 0, "nothing"),
            "unknown bins 'nothing' of a histogram; expected 'tensorflow' or a list of limits"),
    REFUSED(ValueError, writer().add_histogram("a", ones({2}), 0, std::vector<double>{1}),
            "the limits of a histogram must be at least two, in rising order"),
    REFUSED(ValueError, writer().add_histogram("a", ones({2}), 0, std::vector<double>{2, 1}),
            "the limits of a histogram must be at least two, in rising order"),
    REFUSED(ValueError, writer().add_histogram("a", ones({2}), 0, std::vector<double>{1, kNaN}),
            "the limits of a histogram must be at least two, in rising order"),
    REFUSED(ValueError, writer().add_histogram("a", ones({2}), 0, {}, {}, -1),
            "add_histogram: max_bins must not be negative, got -1"),
    REFUSED(ValueError, writer().add_histogram_raw("a", {.limits = {1, 2}, .counts = {1}}),
            "len(bucket_limits) != len(bucket_counts), see the document."),
    ACCEPTED(writer().add_histogram_raw("a", {}), "PyTorch accepts it"),
    REFUSED(
        Error, writer().add_image("a", Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(ValueError, writer().add_image("a", ones({2, 2})),
            "add_image: size of input tensor [2, 2] and input format 'CHW' are different"),
    REFUSED(ValueError, writer().add_image("a", ones({2, 2, 2})),
            "add_image expects 1, 3 or 4 channels, got 2"),
    REFUSED(ValueError, writer().add_image("a", ones({3, 0, 2})),
            "add_image expects a picture with pixels, got [3, 0, 2]"),
    REFUSED(ValueError, writer().add_image("a", ones({3, 2, 2}), 0, {}, "CWX"),
            "add_image expects an order of the letters CHW, got 'CWX'"),
    REFUSED(ValueError, writer().add_image("a", ones({3, 2, 2}), 0, {}, ""),
            "add_image: size of input tensor [3, 2, 2] and input format '' are different"),
    REFUSED(ValueError, writer().add_image("a", ones({3, 2, 2}), 0, {}, "CHH"),
            "add_image expects an order of the letters CHW, got 'CHH'"),
    REFUSED(ValueError, writer().add_image("a", ones({3, 2, 2}), 0, {}, "NCHW"),
            "add_image: size of input tensor [3, 2, 2] and input format 'NCHW' are different"),
    REFUSED(TypeError, writer().add_image("a", ones({3, 2, 2}, kLong)),
            "add_image expects uint8 or floating point pictures, got int64"),
    REFUSED(TypeError, writer().add_image("a", zeros({3, 2, 2}, kComplexFloat)),
            "add_image expects uint8 or floating point pictures, got complex64"),
    ACCEPTED(writer().add_image("a", full({3, 2, 2}, kNaN)), "PyTorch accepts it"),
    REFUSED(ValueError, writer().add_images("a", ones({3, 2, 2})),
            "add_images: size of input tensor [3, 2, 2] and input format 'NCHW' are different"),
    REFUSED(ValueError, writer().add_images("a", ones({0, 3, 2, 2})),
            "add_images expects a picture with pixels, got [0, 3, 2, 2]"),
    REFUSED(ValueError, writer().add_images("a", ones({1, 3, 2, 2}), 0, {}, "CHW"),
            "add_images: size of input tensor [1, 3, 2, 2] and input format 'CHW' are different"),
    REFUSED(Error, writer().add_figure("a", "/nowhere/x.png"),
            "cannot read /nowhere/x.png: No such file or directory"),
    REFUSED(Error, writer().add_figure("a", "/dev/null"),
            "cannot read /dev/null: not a regular file"),
    REFUSED(Error, writer().add_graph(nn::Linear(2, 2), ones({3})),
            "mat1 and mat2 shapes cannot be multiplied (1x3 and 2x2)"),
    REFUSED(
        Error, writer().add_graph(nn::Linear(2, 2), Tensor()),
        "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient tha"),
    REFUSED(Error, writer().add_graph(nn::Linear(nullptr), ones({2})),
            "Accessing empty ModuleHolder"),
    REFUSED(ValueError, writer().add_hparams({{"", 1.0}}, {{"a", 1.0}}),
            "add_hparams: a hyperparameter has no name"),
    REFUSED(ValueError, writer().add_hparams({{"lr", 1.0}}, {{"", 1.0}}),
            "add_hparams: a metric has no name"),
    ACCEPTED(writer().add_hparams({}, {}), "PyTorch accepts it"),
};

const std::vector<Row> rows_2 = {
    ACCEPTED(writer().add_hparams({{"lr", 1.0}}, {{"a", kNaN}}), "PyTorch accepts it"),
    ACCEPTED(writer().add_hparams({{"lr", 1.0}}, {{"a", 1.0}}, {{"momentum", {0.9}}}),
             "PyTorch accepts it"),
    REFUSED(ValueError, writer().add_embedding(Tensor()),
            "mat should be 2D, where mat.size(0) is the number of data points"),
    REFUSED(ValueError, writer().add_embedding(ones({4})),
            "mat should be 2D, where mat.size(0) is the number of data points"),
    REFUSED(ValueError, writer().add_embedding(ones({2, 2}), {"a"}),
            "#labels should equal with #data points"),
    REFUSED(ValueError, writer().add_embedding(ones({2, 2}), {"a", "b"}, {}, 0, "t", {"x", "y"}),
            "len of header must be equal to the number of columns in metadata, got 2 and 1 in 'a'"),
    REFUSED(
        ValueError, writer().add_embedding(ones({2, 2}), {"a\tb", "c"}, {}, 0, "t", {"x"}),
        "len of header must be equal to the number of columns in metadata, got 1 and 2 in 'a\tb"),
    REFUSED(ValueError, writer().add_embedding(ones({2, 2}), {}, ones({3, 3, 4, 4})),
            "#images should equal with #data points"),
    REFUSED(ValueError, writer().add_embedding(ones({2, 2}), {}, ones({2, 3, 4, 5})),
            "Image should be square, see tensorflow/tensorboard"),
    ACCEPTED(writer().add_embedding(ones({2, 2}), {}, {}, 0, "../../x"),
             "what a path may not hold is encoded"),
    REFUSED(Error, RecordFile("/nowhere/x"), "cannot write /nowhere/x: No such file or directory"),
    REFUSED(Error, RecordFile(""), "cannot write : No such file or directory"),
    REFUSED(Error, RecordFile("/"), "cannot write /: Is a directory"),
    REFUSED(Error, read_records("/nowhere/x"), "cannot read /nowhere/x: No such file or directory"),
    REFUSED(Error, read_records("/"), "cannot read /: it is a folder"),
    REFUSED(Error, JsonLinesWriter("/nowhere/x"),
            "cannot write /nowhere/x: No such file or directory"),
    REFUSED(Error, JsonLinesWriter(""), "cannot write : No such file or directory"),
    REFUSED(Error, JsonLinesWriter("/dev/full").write(JsonObject().set("a", 1)),
            "cannot write /dev/full: No space left on device"),
    REFUSED(ValueError, chart({1, 2}, {1}).text(80, 20),
            "Chart: curve 'a' has 2 numbers as x and 1 as y"),
    ACCEPTED(chart({1}, {1}).text(0, 0), "at least 20 x 5"),
    ACCEPTED(chart({}, {}).text(80, 20), "an empty frame"),
    ACCEPTED(Chart().text(80, 20), "an empty frame"),
    ACCEPTED(chart({kNaN}, {kNaN}).text(80, 20), "points that are not finite leave a gap"),
    REFUSED(ValueError, chart({1, 2}, {1, 2}).text(size_t(-1), 20),
            "at most 65536 columns and rows, got 18446744073709551615 and 20"),
    ACCEPTED(chart({1}, {1}).picture(0, 0), "at least 160 x 120"),
    ACCEPTED(chart({1}, {1}).picture(-1, 200), "at least 160 x 120"),
    REFUSED(
        Error, chart({1}, {1}).picture(kHuge, kHuge),
        "Storage size calculation overflowed with sizes=[3, 4611686018427387904, 46116860184273"),
    REFUSED(ValueError, chart({1, 2}, {1}).svg(200, 200),
            "Chart: curve 'a' has 2 numbers as x and 1 as y"),
    ACCEPTED(round_ticks(1, 0), "as for one number"),
    REFUSED(ValueError, round_ticks(kNaN, 1), "round_ticks expects two numbers, got nan and 1"),
    REFUSED(ValueError, round_ticks(0, HUGE_VAL), "round_ticks expects two numbers, got 0 and inf"),
    ACCEPTED(round_ticks(-1e308, 1e308), "as any two numbers"),
    ACCEPTED(make_histogram({}), "nothing was counted"),
    REFUSED(ValueError, make_histogram(std::vector<double>{1.0}, {}, -1),
            "make_histogram: max_bins must not be negative, got -1"),
    ACCEPTED(ProgressBar("a", -1).advance(1), "an unknown total"),
    ACCEPTED(ProgressBar("a", 0).advance(1), "an unknown total"),
    ACCEPTED(ProgressBar("a", 3).advance(-1), "work may be undone"),
    REFUSED(ValueError, ProgressBar("a", 3, "x", {.stream = nullptr}).advance(1),
            "ProgressBar 'a': the stream is a null pointer"),
    ACCEPTED(ProgressBar("a", 3, "x", {.redraw_seconds = kNaN}).advance(1), "drawn at once"),
    ACCEPTED(RunBuilder::get_runs({}), "one run without parameters"),
    REFUSED(ValueError, RunBuilder::get_runs({{"lr", {}}}),
            "parameter 'lr' of the grid has no values"),
    REFUSED(ValueError, RunBuilder::get_runs({{"lr", {0.1}}, {"lr", {0.2}}}),
            "parameter 'lr' is twice in the grid"),
    ACCEPTED(RunBuilder::get_runs({{"", {0.1}}}), "PyTorch accepts it"),
    REFUSED(IndexError, run().get<double>("momentum"),
            "the run has no parameter 'momentum': Run(lr=0.1)"),
    REFUSED(TypeError, run().get<bool>("lr"),
            "parameter 'lr' is 0.1, which is of another kind than was asked for"),
    REFUSED(TypeError, run().get<std::string>("lr"),
            "parameter 'lr' is 0.1, which is of another kind than was asked for"),
    REFUSED(TypeError, run().get<int>("lr"),
            "parameter 'lr' is 0.1, which is of another kind than was asked for"),
    REFUSED(Error, manager().end_run(), "end_run: no run has begun"),
    REFUSED(Error, manager().begin_epoch(), "begin_epoch: no run has begun"),
    REFUSED(Error, manager().end_epoch(), "end_epoch: no epoch has begun"),
    REFUSED(Error, manager().track_loss(tensor(1.0f), 2), "RunManager: no epoch has begun"),
    REFUSED(Error, manager().track_num_correct(ones({2, 2}), ones({2}, kLong)),
            "RunManager: no epoch has begun"),
    REFUSED(Error, manager().save("/nowhere/x"),
            "cannot write /nowhere/x.csv: No such file or directory (open)"),
    REFUSED(ValueError, manager().save(""), "RunManager::save expects the name of a file, got ''"),
};

TEST(WrongCallsOfLogs, AreRefused) {
  check(rows_1);
  check(rows_2);
}

}  // namespace
}  // namespace taeda::wrong
