// What a network is given: files as tensors, prepared as the training data were.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "taeda/data/csv.h"
#include "taeda/tensor/tensor.h"
#include "tools/taeda/train/about.h"

namespace taeda::tool {

// Each throws UsageError for files that cannot be read or do not fit.

data::CsvTable read_table(const std::string& path, const About& about);
/// The column that --target says. Throws UsageError where there is none.
size_t target_column(const data::CsvTable& table, const std::string& target);
/// Where the columns stand that the network was trained on: by their names, or in order where there
/// are no names and as many columns.
std::vector<size_t> places_of(const data::CsvTable& table, const About& about);
/// Leaves out the rows that --missing drop is about: of the columns that are told from, and of the
/// target where that is given.
void drop_missing_rows(data::CsvTable& table, const About& about, std::optional<size_t> target);
/// (N, columns): rows as they stand in the table, words as their places, NaN for what is missing.
Tensor table_rows(const data::CsvTable& table, const About& about,
                  const data::CsvAdvice& advice = {});
/// (N): the target column, as numbers of classes or as standardised numbers.
Tensor table_targets(const data::CsvTable& table, size_t target, const About& about);
/// The whole number that a cell holds, "2", "+2" or "2.0"; nothing where it holds none.
std::optional<int64_t> whole_number(const std::string& cell);

/// (N): bytes as positions in the vocabulary. `what` names the text in errors.
Tensor text_tokens(const std::string& bytes, const About& about, const std::string& what);

/// A uint8 picture (C, H, W) of the size and with the channels that the network takes.
Tensor read_picture(const std::string& path, const About& about);

// Note [Before and after a network]
// A network takes standardised numbers and gives scores. What rows and pictures become before it,
// and what its scores mean behind it, is written here alone, as operations: commands compute it so,
// and `taeda export` writes the same operations into the model.

/// What the network takes: of rows as table_rows() gives them, or of a batch of uint8 pictures
/// (N, C, H, W).
Tensor network_input(const Tensor& raw, const About& about);
/// What its output means: (N, classes), probabilities; or (N), numbers in the target's own unit.
Tensor network_answer(const Tensor& output, const About& about);

}  // namespace taeda::tool
