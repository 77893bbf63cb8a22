// The switches of libraries behind a backend.
#include "taeda/device/backends.h"

#include <gmock/gmock.h>

#include "tests/error_of.h"

namespace taeda {
namespace {

TEST(Backends, DefaultsArePyTorchs) {
  EXPECT_FALSE(backends::cuda::matmul::allow_tf32);
  EXPECT_TRUE(backends::cudnn::enabled);
  EXPECT_FALSE(backends::cudnn::benchmark);
  EXPECT_FALSE(backends::cudnn::deterministic);
  EXPECT_TRUE(backends::cudnn::allow_tf32);
  EXPECT_TRUE(backends::cuda::cudnn_sdp_enabled());
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
}

TEST(Backends, SwitchesHoldWhatTheyAreGiven) {
  for (const backends::Switch* s :
       {&backends::cudnn::enabled, &backends::cudnn::benchmark, &backends::cudnn::deterministic,
        &backends::cudnn::allow_tf32}) {
    const bool before = *s;
    *s = !before;
    EXPECT_EQ(*s, !before);
    *s = before;
    EXPECT_EQ(*s, before);
  }
  for (const bool enabled : {false, true}) {
    backends::cuda::enable_cudnn_sdp(enabled);
    EXPECT_EQ(backends::cuda::cudnn_sdp_enabled(), enabled);
  }
}

TEST(Backends, PrecisionAndTf32AreOneSwitch) {
  for (const char* precision : {"high", "medium"}) {
    set_float32_matmul_precision(precision);
    EXPECT_EQ(get_float32_matmul_precision(), precision);
    EXPECT_TRUE(backends::cuda::matmul::allow_tf32);
  }
  backends::cuda::matmul::allow_tf32 = false;
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
  backends::cuda::matmul::allow_tf32 = true;
  EXPECT_EQ(get_float32_matmul_precision(), "high");
  set_float32_matmul_precision("highest");
  EXPECT_FALSE(backends::cuda::matmul::allow_tf32);
}

TEST(Backends, UnknownPrecision) {
  EXPECT_THAT(error_of([] { set_float32_matmul_precision("low"); }),
              ::testing::HasSubstr("low is not one of 'highest', 'high', or 'medium'"));
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
}

}  // namespace
}  // namespace taeda
