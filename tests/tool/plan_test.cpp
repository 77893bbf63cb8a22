// `taeda plan`: tables, JSON and errors.
#include <nlohmann/json.hpp>

#include "taeda/log/terminal.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::HasSubstr;

std::string planned(const std::string& arguments) {
  const Outcome o = taeda_tool("plan " + arguments);
  EXPECT_EQ(o.code, 0) << o.err;
  return o.out;
}

TEST(PlanCommand, PrintsARowForEachNumberOfDevices) {
  const std::string out = planned("--model cnn --devices 24xh100 --network ib400 --dtype bfloat16");
  EXPECT_THAT(out, HasSubstr("cnn in bfloat16, 100 samples per device, on up to 24 h100"));
  for (const char* row : {"│  1 │", "│  2 │", "│  4 │", "│  8 │", "│ 16 │", "│ 24 │"})
    EXPECT_THAT(out, HasSubstr(row));
  EXPECT_THAT(out, HasSubstr("communication are not hidden: the last bucket"));
  EXPECT_THAT(out, Not(HasSubstr("bubble")));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(logging::display_width(line), 80u) << line;
}

TEST(PlanCommand, PipelinesHaveBubbles) {
  const std::string out = planned(
      "--model gpt --layers 8 --width 64 --context 128 --vocabulary 256 --devices 8xt4 "
      "--pipeline 4 --microbatches 12 --network ib100");
  EXPECT_THAT(out, HasSubstr("pipelines of 4 devices"));
  EXPECT_THAT(out, HasSubstr("bubble"));
  EXPECT_THAT(out, HasSubstr("devices stand idle for"));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(logging::display_width(line), 80u) << line;
}

TEST(PlanCommand, JsonHasAllOfIt) {
  const auto plan =
      nlohmann::json::parse(planned("--model resnet18 --batch 32 --devices 1024xh100 --json"));
  ASSERT_EQ(plan["rows"].size(), 11u);
  EXPECT_EQ(plan["rows"][10]["devices"], 1024);
  EXPECT_EQ(plan["rows"][0]["efficiency"], 1.0);
  double before = 1.01;
  for (const auto& row : plan["rows"]) {
    EXPECT_LE(row["efficiency"].get<double>(), before);
    before = row["efficiency"];
  }
  const auto& row = plan["rows"][3];
  EXPECT_GT(row["efficiency"], 0.9);
  EXPECT_NEAR(
      row["bytes_sent_per_device"].get<double>(),
      2 * 7. / 8 * plan["gradient_bytes"].get<double>() + plan["buffer_bytes"].get<double>(), 1);
  EXPECT_GT(row["buckets"].size(), 1u);
}

nlohmann::json plan_of(const std::string& arguments) {
  return nlohmann::json::parse(planned(arguments + " --json"));
}

TEST(PlanCommand, LargestLayersAndTheirMemory) {
  const auto plan = plan_of("cnn --devices 4xh100 --batch 64");
  int64_t weights = 0, activations = 0;
  for (const auto& layer : plan["layers"]) {
    weights += layer["parameter_bytes"].get<int64_t>();
    activations += layer["activation_bytes"].get<int64_t>();
  }
  EXPECT_EQ(weights, plan["parameter_bytes"]);
  EXPECT_GT(activations, 0);
  EXPECT_LT(activations, plan["peak_bytes"]);
  // Its output, 6 planes of 24 x 24, and nothing more.
  const auto& first = plan["layers"][0];
  EXPECT_EQ(first["path"], "conv1");
  EXPECT_EQ(first["activation_bytes"], 64 * 6 * 24 * 24 * 4);
  EXPECT_THAT(planned("cnn --devices 4xh100 --batch 64"), HasSubstr("largest layers"));
}

TEST(PlanCommand, SuggestsABatchThatFits) {
  const auto plan = plan_of("resnet18 --devices 2xt4 --batch 64");
  const auto& advice = plan["batch_advice"];
  const int64_t largest = advice["largest"], suggested = advice["suggested"];
  EXPECT_GT(suggested, 1);
  EXPECT_LE(suggested, largest);
  const auto batch = [](int64_t n) { return " --batch " + std::to_string(n); };
  const auto with = [&](int64_t n) { return plan_of("resnet18 --devices 2xt4" + batch(n)); };
  const auto small = with(suggested), large = with(largest);
  EXPECT_LT(large["peak_bytes"], 16e9);
  EXPECT_NEAR(small["rows"][1]["samples_per_second"].get<double>(),
              advice["samples_per_second"].get<double>(), 1);
  EXPECT_GT(advice["samples_per_second"].get<double>(),
            0.93 * large["rows"][1]["samples_per_second"].get<double>());
  EXPECT_EQ(taeda_tool("plan resnet18 --devices 2xt4" + batch(largest * 5 / 4)).code, 2);
}

TEST(PlanCommand, FitsNarrowTerminals) {
  const Outcome o = taeda_tool("plan resnet18 --devices 16xh100", "COLUMNS=40");
  EXPECT_EQ(o.code, 0) << o.err;
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(logging::display_width(line), 40u) << line;
}

TEST(PlanCommand, DevicesOfSeveralKindsWaitForTheSlowest) {
  const auto mixed = plan_of("cnn --devices h100,t4 --network ib100"),
             slow = plan_of("cnn --devices 2xt4 --network ib100");
  EXPECT_EQ(mixed["device"], "t4");
  EXPECT_EQ(mixed["rows"][1]["step_seconds"], slow["rows"][1]["step_seconds"]);
  const std::string text = planned("cnn --devices h100,t4");
  EXPECT_THAT(text, HasSubstr("on up to 1 h100 and 1 t4, all of which"));
  EXPECT_THAT(text, HasSubstr("wait for t4, network"));
}

TEST(PlanCommand, NamesOfDevicesAreReadAsTheyAreWritten) {
  for (const char* devices : {"'2x RTX 4090'", "'2 x rtx-4090'", "2xrtx4090"})
    EXPECT_THAT(planned(taeda::detail::concat("cnn --devices ", devices)),
                HasSubstr("on up to 2 rtx4090"));
}

TEST_F(Train, PlansTheNetworkOfARun) {
  ASSERT_EQ(taeda_tool(arguments("--model mlp --epochs 1 --device cpu", out)).code, 0);
  const auto plan = plan_of(out + " --devices 4xh100");
  EXPECT_EQ(plan["batch"], 20);
  EXPECT_EQ(plan["gradient_bytes"], plan["parameter_bytes"]);
  EXPECT_NEAR(plan["state_bytes"].get<double>() / plan["parameter_bytes"].get<double>(), 2, 0.1);
  expect_bad_input("plan " + data, "holds no checkpoint");
}

TEST(PlanCommand, LessOfTheDataSheetTakesLonger) {
  const auto forward = [](const std::string& more) {
    return nlohmann::json::parse(
               planned("--model resnet18 --devices 1xv100 --json" + more))["forward_seconds"]
        .get<double>();
  };
  EXPECT_NEAR(forward(" --utilization 0.5"), 2 * forward(""), 0.02 * forward(""));
}

TEST(PlanCommand, BadInputIsNamed) {
  expect_bad_input("plan --devices 8xb52",
                   "expected one of b200, h200, h100, a100, l40s, rtx4090, v100, p100, t4, got "
                   "'b52'");
  expect_bad_input("plan --devices 8h100",
                   "--devices must be numbers and devices, such as 64xh100");
  expect_bad_input("plan --devices h100,,a100", "--devices must be numbers and devices");
  expect_bad_input("plan --devices 0xh100", "--devices must be 1 to 1048576 devices");
  expect_bad_input("plan --pipeline 2 --devices 2xh100,2xt4", "over devices of one kind");
  expect_bad_input("plan --network token-ring", "nvlink, pcie, ib100, ib200, ib400");
  expect_bad_input("plan --model alexnet", "--model must be a run, or one of cnn, lenet");
  expect_bad_input("plan --dtype int8", "--dtype must be one of float32, float16, bfloat16");
  expect_bad_input("plan --model cnn --devices 8xh100 --pipeline 3",
                   "--devices must be a multiple of --pipeline, got 8");
  expect_bad_input("plan --model cnn --pipeline 2", "the model can be cut into no more than 1");
  expect_bad_input("plan --pipeline 2 --schedule zigzag", "expected gpipe, 1f1b or interleaved");
  expect_bad_input("plan --microbatches 4", "--microbatches must be 1 without --pipeline");
  expect_bad_input("plan --utilization 2", "--utilization must be above 0 and at most 1, got 2");
  expect_bad_input("plan --batch -1", "--batch must be from 1 to 1048576, got -1");
  expect_bad_input("plan --model resnet18 --devices 1xt4 --batch 4096",
                   "does not fit into the memory of 1 t4");
  expect_bad_input("plan resnet18 --devices t4 --batch 4096", "take a smaller --batch (512 fits)");
  expect_bad_input("plan resnt18", "one of cnn, lenet");
}

}  // namespace
}  // namespace taeda
