// What a stage hears of the outputs of the one before it: a form, or an error, and no memory for
// what is only counted.

#include <gmock/gmock.h>

#include "taeda/distributed/pipeline/link.h"
#include "tests/error_of.h"

namespace taeda::distributed::pipelining::detail {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kOne = nn::detail::Form::One, kList = nn::detail::Form::List,
                  kTwo = nn::detail::Form::Two, kThree = nn::detail::Form::Three;
constexpr auto kFloats = static_cast<int64_t>(kFloat);

/// Forms that stages have, and the numbers that say so.
const std::vector<std::vector<int64_t>> forms = {
    {kOne, 1, kFloats, 1, 2, 3, 4},
    {kOne, 1, kFloats, 0, 0},
    {kList, 0},
    {kList, 2, kFloats, 1, 1, 0, static_cast<int64_t>(kLong), 0, 1, 5},
    {kTwo, 2, kFloats, 1, 0, kFloats, 0, 0},
    {kThree, 3, kFloats, 1, 0, kFloats, 0, 0, kFloats, 0, 1, 7},
};

TEST(PipelineForm, ArrivesAsItWas) {
  for (const auto& numbers : forms) {
    const Shape shape = Shape::decoded(numbers);
    EXPECT_EQ(shape.encoded(), numbers);
    EXPECT_EQ(shape.difference(Shape::decoded(numbers)), "");
  }
}

TEST(PipelineForm, EveryCutIsAnError) {
  for (const auto& numbers : forms)
    for (size_t size = 0; size < numbers.size(); ++size)
      EXPECT_THAT(
          error_of([&] { Shape::decoded(IntArrayRef(numbers.data(), size)); }),
          StartsWith("a pipeline stage says that its outputs are of a form that there is not"))
          << size;
}

TEST(PipelineForm, NumbersThatNoStageEncodesAreNamed) {
  const auto error = [](std::vector<int64_t> numbers) {
    return error_of([&] { Shape::decoded(numbers); });
  };
  EXPECT_THAT(error({4, 0}), HasSubstr("kind 4"));
  EXPECT_THAT(error({-1, 0}), HasSubstr("kind -1"));
  EXPECT_THAT(error({kOne, 0}), HasSubstr("a tensor of parts 0"));
  EXPECT_THAT(error({kTwo, 3, kFloats, 1, 0, kFloats, 1, 0, kFloats, 1, 0}),
              HasSubstr("a pair of parts 3"));
  EXPECT_THAT(error({kThree, 2, kFloats, 1, 0, kFloats, 1, 0}), HasSubstr("a triple of parts 2"));
  EXPECT_THAT(error({kList, int64_t{1} << 60}), HasSubstr("a count of 1152921504606846976"));
  EXPECT_THAT(error({kList, -1}), HasSubstr("a count of -1"));
  EXPECT_THAT(error({kOne, 1, 99, 1, 0}), HasSubstr("dtype 99"));
  EXPECT_THAT(error({kOne, 1, kFloats, 2, 0}), HasSubstr("a gradient wanted 2"));
  EXPECT_THAT(error({kOne, 1, kFloats, 1, INT64_MAX}), HasSubstr("a count of 9223372036854775807"));
  EXPECT_THAT(error({kOne, 1, kFloats, 1, 1, -3}), HasSubstr("a size of -3"));
  EXPECT_THAT(error({kOne, 1, kFloats, 1, 0, 7}), HasSubstr("more numbers than it needs: 6"));
}

}  // namespace
}  // namespace taeda::distributed::pipelining::detail
