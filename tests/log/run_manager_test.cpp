#include "taeda/log/run_manager.h"

#include <gmock/gmock.h>

#include <sstream>

#include "taeda/data/loader.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_io.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/log/event_reader.h"

namespace taeda::logging {
namespace {

/// Test::Run hides the name in every test.
using TrainingRun = Run;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(RunBuilder, MakesTheCartesianProductInOrder) {
  const auto runs = RunBuilder::get_runs(
      {{"lr", {.01, .001}}, {"batch_size", {1000, 10000}}, {"device", {"cuda", "cpu"}}});
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(runs[0].str(), "Run(lr=0.01, batch_size=1000, device='cuda')");
  EXPECT_EQ(runs[1].str(), "Run(lr=0.01, batch_size=1000, device='cpu')");
  EXPECT_EQ(runs[2].str(), "Run(lr=0.01, batch_size=10000, device='cuda')");
  EXPECT_EQ(runs[7].str(), "Run(lr=0.001, batch_size=10000, device='cpu')");
  EXPECT_THAT(RunBuilder::get_runs({}), ElementsAre(TrainingRun()));
  EXPECT_THAT(error_of([] {
                RunBuilder::get_runs({{"lr", {}}});
              }),
              HasSubstr("'lr' of the grid has no values"));
  EXPECT_THAT(error_of([] {
                RunBuilder::get_runs({{"lr", {1}}, {"lr", {2}}});
              }),
              HasSubstr("'lr' is twice in the grid"));
}

TEST(Run, GivesItsValuesByNameAndType) {
  const TrainingRun run({{"lr", .1}, {"n", 3}, {"shuffle", true}, {"device", "cpu"}});
  EXPECT_EQ(run.get<double>("lr"), .1);
  EXPECT_EQ(run.get<int64_t>("n"), 3);
  EXPECT_EQ(run.get<double>("n"), 3);
  EXPECT_EQ(run.get<bool>("shuffle"), true);
  EXPECT_EQ(run.get<std::string>("device"), "cpu");
  EXPECT_EQ(run.get<std::string>("other", "none"), "none");
  EXPECT_THAT(error_of([&] { run.get<double>("x"); }), HasSubstr("no parameter 'x': Run(lr=0.1"));
  EXPECT_THAT(error_of([&] { run.get<int>("lr"); }), HasSubstr("'lr' is 0.1, which is of another"));
  EXPECT_THAT(error_of([&] { run.get<double>("device"); }), HasSubstr("'device' is cpu"));
}

class Manager : public testing::Test {
 protected:
  RunManagerOptions options(bool tensorboard) {
    return {.log_dir = folder / "runs", .tensorboard = tensorboard, .out = &out, .clock = [this] {
              return time;
            }};
  }
  /// One epoch over 8 pictures in batches of 4, the time moving by 2 seconds.
  void epoch(RunManager& manager) {
    manager.begin_epoch();
    for (auto& batch : loader) {
      const Tensor preds = network->forward(batch.data), loss = cross_entropy(preds, batch.target);
      network->zero_grad();
      loss.backward();
      manager.track_loss(full({}, 0.5 * static_cast<double>(batch.target[0].item<int64_t>() + 1)),
                         batch);
      manager.track_num_correct(tensor({{1., 0.}, {1., 0.}, {0., 1.}, {0., 1.}}), batch.target);
    }
    time += 2;
    manager.end_epoch();
  }

  TemporaryFolder folder;
  std::ostringstream out;
  double time = 100;
  data::datasets::TensorDataset<2> set{ones({8, 1, 2, 2}),
                                       tensor(std::vector<int64_t>{0, 0, 1, 1, 1, 1, 1, 1})};
  data::DataLoader<data::Example<>> loader{set, data::LoaderConfig{.batch_size = 4}};
  nn::Sequential network{nn::Flatten(), nn::Linear(4, 2)};
};

TEST_F(Manager, MeasuresEpochs) {
  RunManager manager(options(false));
  const TrainingRun run({{"lr", .01}, {"device", "cpu"}});
  manager.begin_run(run, network, loader);
  EXPECT_EQ(manager.tb(), nullptr);
  time += 1;
  epoch(manager);
  epoch(manager);
  manager.end_run();
  manager.begin_run(run, network, loader);
  epoch(manager);
  manager.end_run();
  ASSERT_EQ(manager.results().size(), 3u);
  const EpochResult& second = manager.results()[1];
  EXPECT_EQ(second.run, 1);
  EXPECT_EQ(second.epoch, 2);
  EXPECT_EQ(second.loss, (0.5 * 4 + 1 * 4) / 8) << "the mean over examples, not over batches";
  EXPECT_EQ(second.accuracy, 6. / 8);
  EXPECT_EQ(second.epoch_duration, 2);
  EXPECT_EQ(second.run_duration, 5);
  EXPECT_EQ(manager.results()[2].run, 2);
  EXPECT_EQ(manager.results()[2].epoch, 1);
  EXPECT_THAT(out.str(), HasSubstr("duration"));
  EXPECT_THAT(out.str(), HasSubstr("0.750000"));
  EXPECT_THAT(manager.table(), HasSubstr("0.750000"));
}

TEST_F(Manager, SavesCsvAndJson) {
  RunManager manager(options(false));
  manager.begin_run(TrainingRun({{"lr", .01}, {"name", "a,\"b\""}}), network, loader);
  epoch(manager);
  manager.end_run();
  manager.begin_run(TrainingRun({{"lr", .1}, {"extra", true}}), network, loader);
  epoch(manager);
  manager.end_run();
  manager.save(folder / "results");
  EXPECT_EQ(contents(folder / "results.csv"),
            "run,epoch,loss,accuracy,epoch duration,run duration,lr,name,extra\n"
            "1,1,0.75,0.75,2,2,0.01,\"a,\"\"b\"\"\",\n"
            "2,1,0.75,0.75,2,2,0.1,,true\n");
  EXPECT_EQ(
      contents(folder / "results.json"),
      "[\n {\"run\": 1, \"epoch\": 1, \"loss\": 0.75, \"accuracy\": 0.75, \"epoch duration\": "
      "2, \"run duration\": 2, \"lr\": 0.01, \"name\": \"a,\\\"b\\\"\"},\n {\"run\": 2, "
      "\"epoch\": 1, \"loss\": 0.75, \"accuracy\": 0.75, \"epoch duration\": 2, \"run "
      "duration\": 2, \"lr\": 0.1, \"extra\": true}\n]\n");
  EXPECT_THAT(error_of([&] { manager.save(folder / "none/x"); }),
              HasSubstr("No such file or directory"));
}

TEST_F(Manager, FillsTensorBoard) {
  if (!has_tensorboard()) GTEST_SKIP() << "built without Protocol Buffers";
  RunManager manager(options(true));
  manager.begin_run(TrainingRun({{"lr", .01}}), network, loader);
  ASSERT_NE(manager.tb(), nullptr);
  epoch(manager);
  epoch(manager);
  manager.end_run();
  const std::string place = folder / "runs/Run(lr=0.01)";
  EXPECT_EQ(values_of(place, "Loss").size(), 2u);
  EXPECT_EQ(values_of(place, "Accuracy").at(1).value.single(2), 0.75f);
  EXPECT_EQ(values_of(place, "Accuracy").at(1).event.integer(2), 2);
  EXPECT_EQ(values_of(place, "1.weight").size(), 2u);
  EXPECT_EQ(values_of(place, "1.bias.grad").size(), 2u);
  EXPECT_EQ(values_of(place, "images").size(), vision::has_png() ? 1u : 0u);
  int graphs = 0;
  for (const WireMessage& event : events_of(place)) graphs += event.has(4);
  EXPECT_EQ(graphs, 1);
}

TEST_F(Manager, SaysWhatIsOutOfOrder) {
  RunManager manager(options(false));
  EXPECT_THAT(error_of([&] { manager.begin_epoch(); }), HasSubstr("no run has begun"));
  EXPECT_THAT(error_of([&] { manager.end_run(); }), HasSubstr("no run has begun"));
  manager.begin_run(TrainingRun({{"lr", .01}}), network, loader);
  EXPECT_THAT(error_of([&] { manager.begin_run(TrainingRun(), network, loader); }),
              HasSubstr("Run(lr=0.01) has not ended"));
  EXPECT_THAT(error_of([&] { manager.track_loss(ones({}), 1); }), HasSubstr("no epoch has begun"));
  EXPECT_THAT(error_of([&] { manager.end_epoch(); }), HasSubstr("no epoch has begun"));
}

}  // namespace
}  // namespace taeda::logging
