// Tests that run for rows of the op table, named after them.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "tests/ops/op_table.h"

namespace taeda::testing {

/// gtest prints parameters by this.
inline void PrintTo(const OpRow* row, std::ostream* out) { *out << row->name; }

class RowTest : public ::testing::TestWithParam<const OpRow*> {
 protected:
  static const OpRow& row() { return *GetParam(); }

  void SetUp() override { skip_where_unavailable(Device(kCPU)); }
  static void skip_where_unavailable(Device device) {
    const std::string reason = row().unavailable ? row().unavailable(device) : "";
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

/// The rows that take part in a test.
inline auto rows_where(bool (*keep)(const OpRow&)) {
  std::vector<const OpRow*> out;
  for (const OpRow& row : all_rows())
    if (keep(row)) out.push_back(&row);
  return ::testing::ValuesIn(out);
}
inline auto every_row() {
  return rows_where([](const OpRow&) { return true; });
}

inline std::string name_of_row(const ::testing::TestParamInfo<const OpRow*>& info) {
  std::string name = info.param->name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

}  // namespace taeda::testing
