// What a network is given: files as tensors, prepared as the training data were.
#pragma once

#include <string>

#include "taeda/data/csv.h"
#include "taeda/tensor/tensor.h"
#include "tools/taeda/train/about.h"

namespace taeda::tool {

// Each throws UsageError for files that cannot be read or do not fit.

/// What --target says, as the name of a column where there are names: another table may have the
/// columns in another order.
std::string target_name(const std::string& path, const std::string& target, const About& about);
data::CsvTable read_table(const std::string& path, const About& about);
/// (N, D): the columns that the network was trained on, found by their names, or in order where
/// there are no names and as many columns.
Tensor table_inputs(const data::CsvTable& table, const About& about, const std::string& path);
/// (N): the target column, as numbers of classes or as standardised numbers.
Tensor table_targets(const data::CsvTable& table, const About& about, const std::string& path);

/// (N): bytes as positions in the vocabulary. `what` names the text in errors.
Tensor text_tokens(const std::string& bytes, const About& about, const std::string& what);

/// A uint8 picture (C, H, W) of the size and with the channels that the network takes.
Tensor read_picture(const std::string& path, const About& about);
/// Such a picture as the network takes it, floating point.
Tensor picture_input(const Tensor& picture, const About& about);

}  // namespace taeda::tool
