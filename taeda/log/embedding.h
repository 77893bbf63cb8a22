// Points for TensorBoard's projector: tables, a picture of pictures, and a list of them.
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::logging {

struct Embedding {
  Tensor points;                    ///< (N, D)
  std::vector<std::string> labels;  ///< a line for each point, or empty
  std::vector<std::string> header;  ///< names of the columns of a label, or empty
  Tensor pictures;                  ///< (N, C, H, H), or undefined
};

/// Writes <log_dir>/<step>/<tag>/ with tensors.tsv, metadata.tsv and sprite.png, and adds it to
/// <log_dir>/projector_config.pbtxt. Throws ValueError when numbers do not fit, Error when a file
/// cannot be written.
void write_embedding(const std::string& log_dir, const Embedding& embedding, const std::string& tag,
                     int64_t step);

}  // namespace taeda::logging
