// How a run is told to train: optimizers, schedules, configuration files, folders.
#include <cmath>
#include <nlohmann/json.hpp>

#include "taeda/io/archive.h"
#include "taeda/ops/create/create.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Recipe : public Train {
 protected:
  Outcome train(const std::string& more, const std::string& name) {
    const Outcome o = taeda_tool(arguments(kCommon + more, folder / name));
    EXPECT_EQ(o.code, 0) << more << o.err;
    return o;
  }
  Json result(const std::string& name) {
    return Json::parse(contents(folder / (name + "/result.json")));
  }
  std::vector<double> rates(const std::string& name) {
    std::vector<double> out;
    const Json run = result(name);
    for (const Json& epoch : run["epochs"]) out.push_back(epoch["lr"]);
    return out;
  }
  static constexpr const char* kCommon = "--device cpu --threads 1 --workers 0 --model lenet ";
};

TEST_F(Recipe, EveryOptimizerTrainsAndGoesOn) {
  for (const char* name : {"adam", "adamw", "sgd", "momentum", "nadam", "radam", "adamax",
                           "rmsprop", "adagrad", "adadelta", "adafactor", "lion"}) {
    const std::string options =
        "--epochs 1 --model mlp --weight-decay 1e-4 --optimizer " + std::string(name);
    train(options, "whole" + std::string(name));
    const std::string part = folder / ("part" + std::string(name));
    EXPECT_EQ(taeda_tool(arguments(kCommon + options + " --stop-after 11", part)).code, 130)
        << name;
    EXPECT_EQ(taeda_tool(arguments(kCommon + options + " --resume auto", part)).code, 0) << name;
    expect_equal_runs(part, folder / ("whole" + std::string(name)));
  }
}

TEST_F(Recipe, SchedulesGiveTheirRates) {
  const std::string base = "--epochs 4 --lr 0.1 --optimizer sgd --model mlp --schedule ";
  train(base + "constant", "constant");
  EXPECT_EQ(rates("constant"), (std::vector<double>{0.1, 0.1, 0.1, 0.1}));
  train(base + "step --step-size 2 --gamma 0.5", "step");
  // The rate of the next step, which is the next epoch's first.
  EXPECT_EQ(rates("step"), (std::vector<double>{0.1, 0.05, 0.05, 0.025}));
  train(base + "linear", "linear");
  EXPECT_NEAR(rates("linear")[1], 0.05, 1e-9);
  EXPECT_EQ(rates("linear")[3], 0);
  train(base + "cosine --warmup 2", "cosine");
  EXPECT_NEAR(rates("cosine")[0], 0.1 * 21 / 41, 1e-9);
  EXPECT_NEAR(rates("cosine")[1], 0.1, 1e-9);
  EXPECT_NEAR(rates("cosine")[2], 0.05, 1e-9);
  train(base + "exponential --gamma 0.5", "exponential");
  EXPECT_NEAR(rates("exponential")[3], 0.1 / 16, 1e-9);
  train(base + "one-cycle --warmup 2", "cycle");
  EXPECT_GT(rates("cycle")[1], rates("cycle")[0]);
  EXPECT_LT(rates("cycle")[3], 1e-3);
}

TEST_F(Recipe, RefusesWhatMakesNoSense) {
  expect_usage_error("--optimizer adm", "--optimizer must be one of adam, adamw, ");
  expect_usage_error("--optimizer rmsporp", "got rmsporp; did you mean rmsprop?");
  expect_usage_error("--schedule cosin", "got cosin; did you mean cosine?");
  expect_usage_error("--momentum 0.9",
                     "--momentum goes with --optimizer sgd, momentum and rmsprop, not adam");
  expect_usage_error("--weight-decay -1", "--weight-decay must be 0 or more, got -1");
  expect_usage_error("--warmup 2", "--warmup must be 0 or more, and less than --epochs (2), got 2");
  expect_usage_error("--warmup 0", "--warmup must be positive with --schedule one-cycle, got 0");
  expect_usage_error("--gamma 0", "--gamma must be more than 0 and at most 1, got 0");
  expect_usage_error("--early-stopping -1", "--early-stopping must be 0 or more, got -1");
  expect_usage_error("--device cpu --pretrained " + (folder / "none.pt"), "none.pt");
  expect_usage_error("--find-lr --nproc 2", "leave --nproc out");
}

TEST_F(Recipe, EarlyStoppingKeepsTheBestWeights) {
  // A rate so high that it only gets worse.
  const std::string options =
      "--epochs 9 --lr 3 --optimizer sgd --schedule constant --early-stopping 2 ";
  const Outcome o = train(options, "run");
  EXPECT_THAT(o.err, HasSubstr("no better test loss in 2 epochs: stopped after epoch "));
  const Json r = result("run");
  ASSERT_LT(r["epochs"].size(), 9u);
  EXPECT_EQ(r["epochs"].size(), r["best_epoch"].get<size_t>() + 2);
  const auto best = io::SafeTensors::open(folder / "run/best.safetensors");
  EXPECT_EQ(best.metadata().at("best"), std::to_string(r["best_epoch"].get<int>()));
  // Interrupted in between, it ends at the same place.
  EXPECT_EQ(taeda_tool(arguments(kCommon + options + " --stop-after 25", folder / "part")).code,
            130);
  EXPECT_EQ(taeda_tool(arguments(kCommon + options + " --resume auto", folder / "part")).code, 0);
  expect_equal_runs(folder / "part", folder / "run");
  EXPECT_TRUE(contents(folder / "part/best.safetensors").size() > 0);
  expect_bad_input(arguments(kCommon + options + "--resume " + (folder / "run/best.safetensors"),
                             folder / "run"),
                   "holds the best weights alone");
}

TEST_F(Recipe, PretrainedWeightsAndWhatDidNotFit) {
  train("--epochs 1", "first");
  Outcome o =
      train("--epochs 1 --lr 1e-9 --pretrained " + (folder / "first/best.safetensors"), "second");
  EXPECT_THAT(o.out, HasSubstr("best.safetensors: 10 of 10 tensors\n"));
  EXPECT_NEAR(result("second")["best_test_loss"].get<double>(),
              result("first")["best_test_loss"].get<double>(), 1e-3);
  // Named as wrappers name them; one of another shape, one missing, one too many.
  io::Archive archive = io::load_archive(folder / "first/best.safetensors").section("model.");
  io::Archive other;
  for (const auto& [name, tensor] : archive.tensors.pairs()) {
    if (name == "conv1.bias") continue;
    other.add("module." + name, name == "conv2.bias" ? zeros({3}) : tensor);
  }
  other.add("module.extra", zeros({2}));
  io::save_archive(other, folder / "other.safetensors");
  o = train("--epochs 1 --pretrained " + (folder / "other.safetensors"), "third");
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("8 of 10 tensors; missing: conv1.bias; not used: module.extra; of "
                              "another shape: conv2.bias [3] (here [16])")));
  io::Archive strange;
  strange.add("x", zeros({2}));
  io::save_archive(strange, folder / "strange.safetensors");
  expect_usage_error("--device cpu --pretrained " + (folder / "strange.safetensors"),
                     "nothing in it fits the network");
}

TEST_F(Recipe, AConfigurationFileRepeatsARun) {
  train("--optimizer adamw --weight-decay 0.02 --schedule cosine --warmup 0.5 --lr 0.002 --seed 7",
        "first");
  const std::string config = folder / "first/run.toml";
  EXPECT_THAT(contents(config),
              AllOf(HasSubstr("task = \"fashion-mnist\"\n"), HasSubstr("lr = 0.002\n"),
                    HasSubstr("weight-decay = 0.02\n"), Not(HasSubstr("momentum"))));
  const Outcome again = taeda_tool("train --config " + config + " --out " + (folder / "again"));
  ASSERT_EQ(again.code, 0) << again.err;
  expect_equal_runs(folder / "first", folder / "again");
  EXPECT_EQ(contents(folder / "again/run.toml"), contents(config));
  const Outcome other = taeda_tool("train fashion-mnist --seed 8 --epochs 1 --config=" + config +
                                   " --out " + (folder / "other"));
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(contents(folder / "other/run.toml"),
              AllOf(HasSubstr("seed = 8\n"), HasSubstr("lr = 0.002\n"), HasSubstr("epochs = 1\n")));

  const std::string bad = folder / "bad.toml";
  const auto refused = [&](const std::string& text, const std::string& message) {
    write_bytes(bad, text);
    expect_bad_input("train --config " + bad, message);
  };
  refused("task = \"mnist\"\nepocs = 3\n",
          bad + ", line 2: epocs is no setting of mnist; did you mean epochs?");
  refused("task = \"mnist\"\nhidden = 3\n", "line 2: hidden is no setting of mnist");
  refused("task = \"mnist\"\nlr = \"x\"\n", "line 2: lr must be a number");
  refused("task = \"mnist\"\nepochs = 2.5\n", "line 2: epochs must be a whole number");
  refused("task = \"mnits\"\n",
          "line 1: task must be one of fashion-mnist, mnist, cifar10, folder, csv, text, got "
          "mnits; did you mean mnist?");
  refused("epochs = 3\n", "names no task");
  refused("task = \"mnist\nlr", "line 1");
  refused("task = \"mnist\"\nepochs = -3\n", "--epochs must be positive, got -3");
  expect_bad_input("train csv --config " + config, "is of the task fashion-mnist, not csv");
  expect_bad_input("train --config " + (folder / "none.toml"), "there is no file");
}

TEST_F(Recipe, RunsAreNotWrittenOver) {
  const auto in_folder = [&](const std::string& more) {
    const Outcome o =
        taeda_tool("train fashion-mnist --device cpu --workers 0 --model mlp --epochs 1 --data " +
                       data + " " + more,
                   "cd " + folder.path() + ";");
    EXPECT_EQ(o.code, more.find("stop") == std::string::npos ? 0 : 130) << o.err;
    return o;
  };
  EXPECT_THAT(in_folder("").out, HasSubstr("checkpoint  out/checkpoint.safetensors"));
  const std::string first = contents(folder / "out/result.json");
  EXPECT_THAT(in_folder("--seed 1").out, HasSubstr("checkpoint  out-2/checkpoint.safetensors"));
  const Outcome stopped = in_folder("--seed 2 --stop-after 3");
  EXPECT_THAT(stopped.err, HasSubstr("--out out-3 --resume auto"));
  EXPECT_THAT(in_folder("--seed 2 --resume auto").out, HasSubstr("checkpoint  out-3/"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out-4"));
  EXPECT_EQ(contents(folder / "out/result.json"), first);
  expect_bad_input(arguments("--device cpu", folder / "out"),
                   "holds a run already: give another folder, --force");
  EXPECT_EQ(contents(folder / "out/result.json"), first);
  // A checkpoint that is not the folder's own must not take its place.
  expect_bad_input(arguments("--device cpu --resume " + (folder / "out-2"), folder / "out"),
                   "holds a run already");
  in_folder("--force --seed 5");
  EXPECT_NE(contents(folder / "out/result.json"), first);
}

TEST_F(Recipe, PrintsJsonLines) {
  const Outcome o = train("--json", "run");
  EXPECT_EQ(o.err, "");
  std::vector<Json> lines;
  std::istringstream in(o.out);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["event"], "start");
  EXPECT_EQ(lines[0]["out"], folder / "run");
  EXPECT_EQ(lines[2]["event"], "epoch");
  EXPECT_EQ(lines[2]["epoch"], 2);
  EXPECT_EQ(lines[3]["event"], "result");
  EXPECT_EQ(lines[3]["epochs"], result("run")["epochs"]);
  EXPECT_EQ(lines[3]["config"]["batch-size"], 20);
}

TEST_F(Recipe, FindsALearningRate) {
  const Outcome o = taeda_tool(arguments(kCommon + std::string("--find-lr"), out));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("learning rate, as a power of 10"),
                           HasSubstr("the loss falls fastest at ")));
  EXPECT_FALSE(std::filesystem::exists(out));
  const Json json =
      Json::parse(taeda_tool(arguments(kCommon + std::string("--find-lr --json"), out)).out);
  EXPECT_GT(json["suggestion"].get<double>(), 1e-5);
  EXPECT_LT(json["suggestion"].get<double>(), 1);
}

}  // namespace
}  // namespace taeda
