// Tables of wrong calls: a row is a call, the class of error that it ends with, and words of its
// text. Calls that are accepted because PyTorch accepts them stand in the tables, too.
#pragma once

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <typeinfo>
#include <vector>

#include "taeda/base/error.h"

// Calls of what a null pointer points to are among them.
#pragma GCC diagnostic ignored "-Wnonnull"

namespace taeda::wrong {

constexpr int64_t kHuge = int64_t{1} << 62;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char* text;
  void (*call)();
  const std::type_info* error;  ///< nullptr for a call that is accepted
  const char* words;            ///< of the error, or why the call is accepted
};

#define REFUSED(error, call, words)                    \
  ::taeda::wrong::Row {                                \
#call, [] { (void)(call); }, &typeid(error), words \
  }
#define ACCEPTED(call, why)                   \
  ::taeda::wrong::Row {                       \
#call, [] { (void)(call); }, nullptr, why \
  }

/// Makes every call of the table. An exception that is not the library's fails the test, as does
/// one of another class or without the words.
inline void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    try {
      row.call();
      EXPECT_EQ(row.error, nullptr) << "accepted";
    } catch (const Error& e) {
      if (!row.error) {
        ADD_FAILURE() << "refused, though " << row.words << ": " << e.what();
        continue;
      }
      EXPECT_STREQ(typeid(e).name(), row.error->name());
      EXPECT_THAT(e.what(), ::testing::HasSubstr(row.words));
    } catch (const std::exception& e) {
      ADD_FAILURE() << "not an error of the library: " << e.what();
    }
  }
}

}  // namespace taeda::wrong
