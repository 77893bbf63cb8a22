#include "taeda/log/summary_writer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "taeda/base/error.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_io.h"
#include "tests/error_of.h"
#include "tests/io/full_disk.h"
#include "tests/io/temporary_folder.h"
#include "tests/log/event_reader.h"

namespace taeda::logging {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class Writer : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_tensorboard()) GTEST_SKIP() << "built without Protocol Buffers";
  }
  TemporaryFolder folder;
};

TEST(SummaryWriterWithoutProtobuf, SaysWhatIsMissing) {
  if (has_tensorboard()) GTEST_SKIP() << "built with Protocol Buffers";
  EXPECT_THAT(error_of([] { SummaryWriter("x"); }), HasSubstr("has no Protocol Buffers"));
}

TEST_F(Writer, NamesFoldersAndFiles) {
  SummaryWriter writer({.log_dir = folder / "a/b", .comment = "ignored", .filename_suffix = ".x"});
  EXPECT_EQ(writer.log_dir(), folder / "a/b");
  writer.close();
  ASSERT_EQ(event_files(folder / "a/b").size(), 1u);
  EXPECT_TRUE(std::regex_search(event_files(folder / "a/b")[0],
                                std::regex(R"(events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.x$)")));
  const auto events = events_of(folder / "a/b");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text(3), "brain.Event:2");
  EXPECT_GT(events[0].real(1), 1.7e9);
}

TEST_F(Writer, DefaultFolderIsBelowRuns) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  SummaryWriter writer({.comment = "-lr=0.1"});
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::regex_match(writer.log_dir(),
                               std::regex(R"(runs/[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+-lr=0\.1)")))
      << writer.log_dir();
  EXPECT_TRUE(std::filesystem::is_directory(folder / writer.log_dir()));
}

TEST_F(Writer, Scalars) {
  SummaryWriter writer(folder.path());
  writer.add_scalar("loss", 0.5, 3, 1234.5);
  writer.add_scalar("loss", full({}, 0.25), 4);
  writer.add_scalar("new", 2.5, 1, {}, true);
  writer.add_scalar("double", 0.1, 1, {}, false, true);
  writer.add_scalar("count", 7);
  EXPECT_THAT(error_of([&] { writer.add_scalar("x", ones({2})); }),
              HasSubstr("a Tensor with 2 elements cannot be converted to Scalar"));
  writer.flush();
  const auto loss = values_of(folder.path(), "loss");
  ASSERT_EQ(loss.size(), 2u);
  EXPECT_EQ(loss[0].value.single(2), 0.5f);
  EXPECT_EQ(loss[0].event.integer(2), 3);
  EXPECT_EQ(loss[0].event.real(1), 1234.5);
  EXPECT_EQ(loss[1].value.single(2), 0.25f);
  const WireMessage fresh = values_of(folder.path(), "new").at(0).value;
  EXPECT_EQ(fresh.message(9).message(1).text(1), "scalars");
  EXPECT_EQ(fresh.message(8).integer(1), 1);  // DT_FLOAT
  EXPECT_EQ(WireMessage(fresh.text(8)).all(5).size(), 1u);
  const WireMessage exact = values_of(folder.path(), "double").at(0).value;
  EXPECT_EQ(exact.message(8).integer(1), 2);  // DT_DOUBLE
  EXPECT_THAT(exact.message(8).reals(6), ElementsAre(0.1));
  EXPECT_EQ(values_of(folder.path(), "count").at(0).value.single(2), 7);
}

TEST_F(Writer, SeveralCurvesInOnePlot) {
  SummaryWriter writer(folder.path());
  writer.add_scalars("run/loss", {{"train", 1}, {"test", 2}}, 5);
  writer.add_scalars("run/loss", {{"train", 3}}, 6);
  writer.close();
  const auto train = values_of(folder / "run_loss_train", "run/loss");
  ASSERT_EQ(train.size(), 2u);
  EXPECT_EQ(train[1].value.single(2), 3);
  EXPECT_EQ(values_of(folder / "run_loss_test", "run/loss").at(0).event.integer(2), 5);
}

TEST_F(Writer, HistogramsAreTakenWhenTheyAreAdded) {
  SummaryWriter writer(folder.path());
  Tensor values = tensor({-1., 0., 1., 2.});
  writer.add_histogram("weights", values, 1);
  values.fill_(100);
  writer.add_histogram("own", tensor({1, 2, 3}), 1, std::vector<double>{0, 2, 4});
  writer.add_histogram_raw("raw", {0, 1, 2, 1, 1, {0.5, 1}, {1, 1}}, 2);
  EXPECT_EQ(error_of([&] { writer.add_histogram("x", empty({0})); }), "The input has no element.");
  EXPECT_THAT(error_of([&] {
                writer.add_histogram_raw("x", {0, 1, 2, 1, 1, {0.5}, {1, 1}});
              }),
              HasSubstr("len(bucket_limits) != len(bucket_counts)"));
  writer.flush();
  const WireMessage h = values_of(folder.path(), "weights").at(0).value.message(5);
  EXPECT_EQ(h.real(1), -1);
  EXPECT_EQ(h.real(2), 2);
  EXPECT_EQ(h.real(3), 4);
  EXPECT_EQ(h.real(4), 2);
  EXPECT_EQ(h.real(5), 6);
  const auto counts = h.reals(7);
  EXPECT_EQ(h.reals(6).size(), counts.size());
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 4);
  const WireMessage own = values_of(folder.path(), "own").at(0).value.message(5);
  EXPECT_THAT(own.reals(6), ElementsAre(0, 2, 4));
  EXPECT_THAT(own.reals(7), ElementsAre(0, 1, 2));
  EXPECT_THAT(values_of(folder.path(), "raw").at(0).value.message(5).reals(6), ElementsAre(.5, 1));
}

/// The picture that an event holds.
Tensor picture(const std::string& folder, const std::string& tag) {
  const WireMessage image = values_of(folder, tag).at(0).value.message(4);
  const std::string png = image.text(4);
  Tensor bytes = empty({static_cast<int64_t>(png.size())}, kByte);
  std::copy(png.begin(), png.end(), bytes.data_ptr<uint8_t>());
  const Tensor out = vision::decode_png(bytes);
  EXPECT_EQ(image.integer(1), out.size(1));
  EXPECT_EQ(image.integer(2), out.size(2));
  EXPECT_EQ(image.integer(3), out.size(0));
  return out;
}

TEST_F(Writer, Images) {
  if (!vision::has_png()) GTEST_SKIP() << "built without libpng";
  SummaryWriter writer(folder.path());
  const Tensor chw = (arange(24).view({3, 2, 4}) * 10).to(kByte);
  writer.add_image("chw", chw);
  writer.add_image("hwc", chw.permute({1, 2, 0}), 0, {}, "HWC");
  writer.add_image("hw", chw.select(0, 1), 0, {}, "HW");
  writer.add_image("float", tensor({{{0., .5, 1., 2.}}}));
  writer.add_images("batch", chw.unsqueeze(0).expand({10, 3, 2, 4}));
  writer.add_images("nhwc", chw.permute({1, 2, 0}).unsqueeze(0), 0, {}, "NHWC");
  EXPECT_THAT(error_of([&] { writer.add_image("x", chw.select(0, 0)); }),
              HasSubstr("size of input tensor [2, 4] and input format 'CHW' are different"));
  EXPECT_THAT(error_of([&] { writer.add_image("x", chw, 0, {}, "CHX"); }),
              HasSubstr("expects an order of the letters CHW, got 'CHX'"));
  EXPECT_THAT(error_of([&] { writer.add_image("x", chw.narrow(0, 0, 2)); }),
              HasSubstr("1, 3 or 4 channels, got 2"));
  EXPECT_THAT(error_of([&] { writer.add_image("x", chw.to(kLong)); }),
              HasSubstr("expects uint8 or floating point pictures"));
  writer.flush();
  const auto equal = [](const Tensor& a, const Tensor& b) { return a.equal(b); };
  EXPECT_TRUE(equal(picture(folder.path(), "chw"), chw));
  EXPECT_TRUE(equal(picture(folder.path(), "hwc"), chw));
  EXPECT_TRUE(equal(picture(folder.path(), "nhwc"), chw));
  EXPECT_TRUE(equal(picture(folder.path(), "hw"), chw.narrow(0, 1, 1)));
  const Tensor half = picture(folder.path(), "float");
  EXPECT_TRUE(equal(half, tensor({{{0, 128, 255, 255}}}).to(kByte)));
  const Tensor grid = picture(folder.path(), "batch");
  EXPECT_THAT(grid.sizes().vec(), ElementsAre(3, 4, 32));
  EXPECT_TRUE(equal(grid.narrow(1, 2, 2).narrow(2, 4, 4), chw));
}

TEST_F(Writer, FiguresAreTakenOverAsTheyAre) {
  if (!vision::has_png()) GTEST_SKIP() << "built without libpng";
  SummaryWriter writer(folder.path());
  const std::string path = folder / "figure.png";
  const Tensor drawn = full({4, 3, 5}, 77, kByte);
  vision::write_png(drawn, path);
  writer.add_figure("figure", path, 3);
  EXPECT_THAT(error_of([&] { writer.add_figure("x", folder / "none.png"); }),
              HasSubstr("none.png: No such file"));
  writer.flush();
  EXPECT_EQ(values_of(folder.path(), "figure").at(0).value.message(4).text(4), contents(path));
  EXPECT_TRUE(picture(folder.path(), "figure").equal(drawn));
}

TEST_F(Writer, Text) {
  SummaryWriter writer(folder.path());
  writer.add_text("notes", "**bold**", 2);
  writer.flush();
  const WireMessage value = values_of(folder.path(), "notes/text_summary").at(0).value;
  EXPECT_EQ(value.message(8).text(8), "**bold**");
  EXPECT_EQ(value.message(8).integer(1), 7);  // DT_STRING
  EXPECT_EQ(value.message(9).message(1).text(1), "text");
}

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("body", body);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) { return out(body->forward(x)).relu(); }
  nn::Sequential body{nn::Linear(4, 3), nn::Dropout(0.5)};
  nn::Linear out{3, 2};
};
TAEDA_MODULE(Net);

TEST_F(Writer, GraphOfAModule) {
  SummaryWriter writer(folder.path());
  Net net;
  net->body->eval();
  writer.add_graph(net, ones({5, 4}));
  EXPECT_TRUE(net->is_training());
  EXPECT_FALSE(net->body->is_training());
  writer.flush();
  std::map<std::string, WireMessage> nodes;
  for (const WireMessage& event : events_of(folder.path()))
    if (event.has(4))
      for (const WireMessage& node : event.message(4).messages(1))
        nodes.emplace(node.text(1), node);
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes) names.push_back(name);
  EXPECT_THAT(names, IsSupersetOf({"input/0", "output/0", "Net/Sequential[body]/Linear[0]/weight",
                                   "Net/Sequential[body]/Linear[0]/bias", "Net/Linear[out]/weight",
                                   "Net/Linear[out]/Addmm", "Net/Sequential[body]/Linear[0]/Addmm",
                                   "Net/Relu"}));
  EXPECT_EQ(nodes.at("Net/Linear[out]/weight").text(2), "Parameter");
  EXPECT_EQ(nodes.at("Net/Linear[out]/weight").text(4), "cpu");
  EXPECT_THAT(nodes.at("output/0").all(3), ElementsAre("Net/Relu"));
  EXPECT_THAT(nodes.at("Net/Relu").all(3), ElementsAre("Net/Linear[out]/Addmm"));
  EXPECT_THAT(nodes.at("Net/Sequential[body]/Linear[0]/Addmm").all(3),
              testing::Contains("input/0"));
  const WireMessage list =
      WireMessage(WireMessage(nodes.at("Net/Relu").at(5, "_output_shapes")).text(1));
  const auto dims = list.message(7).messages(2);
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[0].integer(1), 5);
  EXPECT_EQ(dims[1].integer(1), 2);
  for (const auto& [name, node] : nodes)
    for (const std::string& input : node.all(3)) EXPECT_TRUE(nodes.contains(input)) << input;
}

TEST_F(Writer, HyperparametersGetARowOfTheirOwn) {
  SummaryWriter writer(folder.path());
  writer.add_hparams({{"lr", 0.1}, {"layers", int64_t{3}}, {"bias", true}, {"optimizer", "adam"}},
                     {{"hparam/accuracy", 0.9}}, {{"optimizer", {"adam", "sgd"}}}, "row");
  EXPECT_EQ(error_of([&] {
              writer.add_hparams({{"", 1.}}, {});
            }),
            "add_hparams: a hyperparameter has no name");
  EXPECT_EQ(error_of([&] {
              writer.add_hparams({}, {{"", 1}});
            }),
            "add_hparams: a metric has no name");
  const auto data = [&](const std::string& tag) {
    const WireMessage plugin =
        values_of(folder / "row", "_hparams_/" + tag).at(0).value.message(9).message(1);
    EXPECT_EQ(plugin.text(1), "hparams");
    return plugin.message(2);
  };
  const auto infos = data("experiment").message(2).messages(4);
  ASSERT_EQ(infos.size(), 4u);
  EXPECT_EQ(infos[0].text(1), "lr");
  EXPECT_EQ(infos[0].integer(4), 3);  // DATA_TYPE_FLOAT64
  EXPECT_EQ(infos[2].integer(4), 2);  // DATA_TYPE_BOOL
  EXPECT_EQ(infos[3].integer(4), 1);  // DATA_TYPE_STRING
  EXPECT_EQ(infos[3].message(5).messages(1).at(1).text(3), "sgd");
  const WireMessage start = data("session_start_info").message(3);
  EXPECT_EQ(WireMessage(start.at(1, "lr")).real(2), 0.1);
  EXPECT_EQ(WireMessage(start.at(1, "optimizer")).text(3), "adam");
  EXPECT_EQ(data("session_end_info").message(4).integer(1), 1);  // STATUS_SUCCESS
  EXPECT_EQ(values_of(folder / "row", "hparam/accuracy").at(0).value.single(2), 0.9f);
}

TEST_F(Writer, EmbeddingsForTheProjector) {
  if (!vision::has_png()) GTEST_SKIP() << "built without libpng";
  SummaryWriter writer(folder.path());
  const Tensor points = tensor({{1., 2.}, {0.5, -1.}, {0., 3.}});
  writer.add_embedding(points, {"a", "b", "c"}, ones({3, 1, 2, 2}), 7, "x y");
  writer.add_embedding(points, {"a\t1", "b\t2", "c\t3"}, {}, {}, "columns", {"name", "number"});
  EXPECT_EQ(contents(folder / "00007/x%20y/tensors.tsv"), "1\t2\n0.5\t-1\n0\t3\n");
  EXPECT_EQ(contents(folder / "00007/x%20y/metadata.tsv"), "a\nb\nc\n");
  EXPECT_THAT(vision::read_png(folder / "00007/x%20y/sprite.png").sizes().vec(),
              ElementsAre(3, 4, 4));
  EXPECT_EQ(contents(folder / "00000/columns/metadata.tsv"), "name\tnumber\na\t1\nb\t2\nc\t3\n");
  const std::string config = contents(folder / "projector_config.pbtxt");
  EXPECT_THAT(config, HasSubstr("tensor_name: \"x y:00007\"\n"));
  EXPECT_THAT(config, HasSubstr("single_image_dim: 2\n    single_image_dim: 2\n"));
  EXPECT_THAT(config, HasSubstr("tensor_path: \"00000/columns/tensors.tsv\"\n"));
  EXPECT_THAT(error_of([&] { writer.add_embedding(ones({3})); }), HasSubstr("mat should be 2D"));
  EXPECT_THAT(error_of([&] { writer.add_embedding(points, {"a"}); }), HasSubstr("#labels should"));
  EXPECT_THAT(error_of([&] {
                writer.add_embedding(points, {"a", "b", "c"}, {}, 0, "t", {"x", "y"});
              }),
              HasSubstr("len of header must be equal"));
  EXPECT_THAT(error_of([&] {
                writer.add_embedding(points, {}, ones({2, 1, 2, 2}));
              }),
              HasSubstr("#images should equal"));
  EXPECT_THAT(error_of([&] {
                writer.add_embedding(points, {}, ones({3, 1, 2, 3}));
              }),
              HasSubstr("Image should be square"));
  EXPECT_THAT(error_of([&] {
                writer.add_embedding(points, {}, ones({3, 1, 5000, 5000}));
              }),
              HasSubstr("10000 pixels side by side, more than 8192"));
}

TEST_F(Writer, PurgesStepsOfACrashedRun) {
  SummaryWriter writer({.log_dir = folder.path(), .purge_step = 10});
  writer.close();
  const auto events = events_of(folder.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].integer(2), 10);
  EXPECT_EQ(events[1].integer(2), 10);
  EXPECT_EQ(events[1].message(7).integer(1), 1);  // START
}

TEST_F(Writer, OpensANewFileAfterClose) {
  SummaryWriter writer(folder.path());
  writer.add_scalar("a", 1, 1);
  writer.close();
  writer.close();
  writer.add_scalar("a", 2, 2);
  writer.close();
  EXPECT_EQ(event_files(folder.path()).size(), 2u);
  EXPECT_EQ(values_of(folder.path(), "a").size(), 2u);
}

TEST_F(Writer, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(error_of([&] { SummaryWriter(folder / "file/runs"); }),
              HasSubstr("cannot make the folder " + folder / "file/runs" + ": Not a directory"));
  EXPECT_THAT(error_of([&] { SummaryWriter({.log_dir = folder / "q", .max_queue = 0}); }),
              HasSubstr("max_queue must be positive"));
}

TEST_F(Writer, AFullDiskLosesNothingElse) {
  SummaryWriter writer(folder.path());
  writer.add_scalar("before", 1, 1);
  writer.flush();
  {
    FullDisk full(200);
    writer.add_text("large", std::string(1000, 'x'));
    EXPECT_THAT(error_of([&] { writer.flush(); }), HasSubstr("File too large (1 record lost)"));
    EXPECT_EQ(values_of(folder.path(), "before").size(), 1u) << "the file is still readable";
  }
  writer.add_scalar("after", 2, 2);
  writer.close();
  EXPECT_EQ(values_of(folder.path(), "after").size(), 1u);
  EXPECT_EQ(events_of(folder.path()).size(), 3u);
}

TEST_F(Writer, TensorBoardsOwnReaderAgrees) {
  const char* given = std::getenv("TAEDA_TENSORBOARD_PYTHON");
  const std::string python = given ? given : "python3";
  if (std::system((python + " -c 'import tensorboard' > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "the Python package tensorboard is not installed for " << python;
  {
    SummaryWriter writer(folder / "run");
    for (int step = 0; step < 3; ++step) writer.add_scalar("loss", 1. / (step + 1), step);
    writer.add_histogram("weights", tensor({-1., 0., 1.}), 1);
    writer.add_text("notes", "hello");
    if (vision::has_png()) writer.add_image("picture", ones({3, 4, 5}));
    writer.add_graph(Net(), ones({5, 4}));
    writer.add_hparams({{"lr", 0.1}}, {{"accuracy", 0.5}}, {}, "row");
  }
  const std::string script = TAEDA_SOURCE_DIR "/tests/log/read_with_tensorboard.py";
  const std::string command = python + " -B " + script + " " + folder / "run" +
                              (vision::has_png() ? " picture" : "") + " > " + folder / "out 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << contents(folder / "out");
}

}  // namespace
}  // namespace taeda::logging
