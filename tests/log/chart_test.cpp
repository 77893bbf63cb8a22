#include "taeda/log/chart.h"

#include <gmock/gmock.h>

#include <cmath>

#include "taeda/log/event_file.h"
#include "taeda/log/summary_writer.h"
#include "tests/error_of.h"

namespace taeda::logging {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Chart, TicksAreRoundAndCoverTheRange) {
  EXPECT_THAT(round_ticks(0, 1),
              ElementsAre(DoubleNear(0, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.4, 1e-12),
                          DoubleNear(0.6, 1e-12), DoubleNear(0.8, 1e-12), DoubleNear(1, 1e-12)));
  for (const auto& [low, high] : {std::pair(-3.7, 12.2), {1e-9, 3e-9}, {0.0, 7e12}, {5, 5.001}}) {
    const auto ticks = round_ticks(low, high);
    EXPECT_GE(ticks.size(), 3u);
    EXPECT_LE(ticks.size(), 10u);
    EXPECT_LE(ticks.front(), low);
    EXPECT_GE(ticks.back(), high - 1e-6 * (high - low));
  }
  EXPECT_THAT(round_ticks(2, 2), ElementsAre(1.8, 2, 2.2));
  EXPECT_THAT(round_ticks(0, 0), ElementsAre(-1, 0, 1));
}

TEST(Chart, AsText) {
  const Chart chart{.title = "loss", .curves = {{"a", {0, 1}, {0, 1}}, {"b", {0, 1}, {1, 1}}}};
  EXPECT_EQ(chart.text(20, 5, true),
            "loss\n"
            "    │ooooooooooooooo\n"
            "0.8 ┤         ****\n"
            "0.4 ┤      ***\n"
            "    │  ****\n"
            "  0 ┤**\n"
            "    └───────────────\n"
            "     0             1\n"
            "  * a\n"
            "  o b\n")
      << chart.text(20, 5, true);
}

TEST(Chart, AsTextWithoutUnicode) {
  const Chart chart{.curves = {{"a", {1, 2, 3}, {0.5, 0.25, 0.125}}}, .x_label = "epoch"};
  const std::string text = chart.text(40, 9, false);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; })) << text;
  EXPECT_THAT(text, HasSubstr("epoch"));
  EXPECT_EQ(text.find("1.5"), std::string::npos) << "there is no epoch 1.5\n" << text;
}

TEST(Chart, OnePointEachMakesBars) {
  const Chart chart{
      .title = "accuracy",
      .curves = {{"lr 0.1", {1}, {0.5}}, {"lr 0.01", {1}, {1}}, {"lr 1", {1}, {NAN}}}};
  EXPECT_EQ(chart.text(30, 5, false),
            "accuracy\n"
            "lr 0.1  |######## 0.5\n"
            "lr 0.01 |################ 1\n"
            "lr 1    |\n");
  const std::string svg = chart.svg(400, 200);
  EXPECT_THAT(svg, HasSubstr(">lr 0.01</text>"));
  EXPECT_EQ(svg.find("<polyline"), svg.rfind("<polyline")) << "the axis is the only line";
}

TEST(Chart, LogarithmsHaveRoundTicks) {
  const Chart chart{.curves = {{"a", {1, 2}, {1, 0.015}}}, .log_y = true};
  const std::string text = chart.text(60, 20, true);
  for (const char* tick : {"0.01 ┤", "0.05 ┤", "0.5 ┤", "1 ┤"}) EXPECT_THAT(text, HasSubstr(tick));
  const Chart many{.curves = {{"a", {1, 2}, {1e-40, 1e40}}}, .log_y = true};
  EXPECT_THAT(many.text(60, 20, true), HasSubstr("1e+40 ┤"));
}

TEST(Chart, MoreCurvesThanColoursAreDashed) {
  Chart chart{.curves = {}, .x_label = "epoch", .y_label = "loss"};
  for (int i = 0; i < 9; ++i) chart.curves.push_back({std::to_string(i), {0, 1}, {0, 1.0 * i}});
  const std::string svg = chart.svg(600, 400);
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
  EXPECT_THAT(svg, HasSubstr("rotate(-90"));
  chart.curves.pop_back();
  EXPECT_THAT(chart.svg(600, 400), testing::Not(HasSubstr("stroke-dasharray")));
}

TEST(Chart, GapsEmptyChartsAndLogarithms) {
  EXPECT_THAT(Chart{}.text(40, 10), HasSubstr("0.4"));
  const Chart gaps{.curves = {{"a", {1, 2, 3}, {1, NAN, 100}}}, .log_y = true};
  EXPECT_THAT(gaps.text(40, 10, true), HasSubstr("100 ┤"));
  const std::string svg = gaps.svg(400, 300);
  EXPECT_THAT(svg, HasSubstr(">a</text>"));
  const Chart names{.curves = {{"<b>&", {1}, {1}}}};
  EXPECT_THAT(names.svg(400, 300), HasSubstr("&lt;b&gt;&amp;"));
  const Tensor picture = gaps.picture(10, 10);
  EXPECT_EQ(picture.sizes().vec(), (std::vector<int64_t>{3, 120, 160}));
}

TEST(EventFile, IsToldWhenItCannotBeOpened) {
  EXPECT_THAT(
      error_of([] { read_event_file("/nowhere/events"); }),
      HasSubstr(has_tensorboard() ? "cannot read /nowhere/events" : "has no Protocol Buffers"));
}

}  // namespace
}  // namespace taeda::logging
