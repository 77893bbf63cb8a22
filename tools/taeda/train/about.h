// What a trained network is, without the data that it was trained on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/data/csv.h"
#include "taeda/nn/any_module.h"
#include "tools/taeda/train/networks.h"

namespace taeda::tool {

/// Stands in each checkpoint, so that a network can be built again and given inputs.
struct About {
  std::string task = {}, model = {};
  std::vector<std::string> classes = {};  ///< empty: the network gives a number

  // Pictures: shape, and mean and standard deviation by channel, of pixels from 0 to 1. Tables: of
  // each column; 0 and 1 of a column of words.
  PictureShape shape{};
  std::vector<double> mean = {}, stddev = {};

  // Tables.
  std::vector<data::CsvColumn> columns = {};  ///< that the target is told from
  std::string missing = "error";              ///< as --missing says
  std::string target = {}, delimiter = {};    ///< as --target and --delimiter say
  bool header = true;
  int64_t hidden = 0;
  double target_mean = 0, target_stddev = 1;

  // Text.
  std::string vocabulary = {};  ///< the bytes that occur, in order
  int64_t context = 0, layers = 0, width = 0;

  /// Of a table: how many numbers the network takes, one for each column of numbers and each word.
  int64_t inputs() const;
  /// What becomes of cells without a value, as the library says it.
  data::MissingValues missing_values() const;
  /// The network with new weights.
  nn::AnyModule make_network() const;
  std::string json() const;
  /// Throws UsageError for a text that json() did not make.
  static About from_json(const std::string& text);
};

}  // namespace taeda::tool
