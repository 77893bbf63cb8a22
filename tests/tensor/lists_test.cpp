// What lists say of elements that they do not have.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "taeda/base/array_ref.h"
#include "taeda/base/error.h"
#include "taeda/base/small_vector.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

TEST(Lists, EmptyOnesHaveNoEnds) {
  const IntArrayRef none;
  EXPECT_EQ(error_of([&] { none.front(); }), "ArrayRef: attempted to access front() of empty list");
  EXPECT_EQ(error_of([&] { none.back(); }), "ArrayRef: attempted to access back() of empty list");
  DimVector empty;
  EXPECT_EQ(error_of([&] { empty.front() = 1; }),
            "ArrayRef: attempted to access front() of empty list");
  EXPECT_THROW(empty.back() = 1, IndexError);
}

TEST(Lists, AtIsChecked) {
  const std::vector<int64_t> values{4, 5};
  const IntArrayRef list(values);
  EXPECT_EQ(list.at(1), 5);
  EXPECT_EQ(list.front() * 10 + list.back(), 45);
  EXPECT_EQ(error_of([&] { list.at(2); }), "ArrayRef: invalid index Index = 2; Length = 2");
  DimVector own(list);
  own.back() = 7;
  own.front() = 6;
  EXPECT_EQ(own, (DimVector{6, 7}));
}

TEST(Errors, AreRuntimeErrors) {
  try {
    TAEDA_CHECK_INDEX(false, "index ", 3);
    FAIL();
  } catch (std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "index 3");
    dynamic_cast<Error&>(e).add_context("here");
    EXPECT_STREQ(e.what(), "index 3\nhere");
  }
}

}  // namespace
}  // namespace taeda
