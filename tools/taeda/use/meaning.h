// What the inputs and outputs of a trained network mean, for files that leave Taeda.
#pragma once

#include <map>
#include <string>

#include "tools/taeda/train/about.h"

namespace taeda::tool {

/// Names and sentences for what goes in and comes out, and texts by key (docs/onnx.md lists them).
struct Meaning {
  std::string input = {}, output = {}, input_text = {}, output_text = {};
  std::map<std::string, std::string> metadata = {};
};

/// Of the network `whole`, with what is computed before and behind it (Note [Before and after a
/// network]), or of the network alone.
Meaning meaning_of(const About& about, bool whole);

}  // namespace taeda::tool
