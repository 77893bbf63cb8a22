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
  EXPECT_EQ(chart.text(20, 5),
            "loss\n"
            "  1 ┤ooooooooooooooo\n"
            "0.8 ┤         ****\n"
            "0.6 ┤      ***\n"
            "0.2 ┤  ****\n"
            "  0 ┤**\n"
            "    └───────────────\n"
            "     0             1\n"
            "  * a\n"
            "  o b\n")
      << chart.text(20, 5);
}

TEST(Chart, GapsEmptyChartsAndLogarithms) {
  EXPECT_THAT(Chart{}.text(40, 10), HasSubstr("0.4"));
  const Chart gaps{.curves = {{"a", {1, 2, 3}, {1, NAN, 100}}}, .log_y = true};
  EXPECT_THAT(gaps.text(40, 10), HasSubstr("100 ┤"));
  const std::string svg = gaps.svg(400, 300);
  EXPECT_THAT(svg, HasSubstr(">a</text>"));
  const Chart names{.curves = {{"<b>&", {1}, {1}}}};
  EXPECT_THAT(names.svg(400, 300), HasSubstr("&lt;b&gt;&amp;"));
  const Tensor picture = gaps.picture(10, 10);
  EXPECT_EQ(picture.sizes().vec(), (std::vector<int64_t>{3, 120, 160}));
}

TEST(EventFile, IsToldWhenItCannotBeOpened) {
  EXPECT_THAT(error_of([] { read_event_file("/nowhere/events"); }),
              HasSubstr(has_tensorboard() ? "cannot read /nowhere/events"
                                          : "has no Protocol Buffers"));
}

}  // namespace
}  // namespace taeda::logging
