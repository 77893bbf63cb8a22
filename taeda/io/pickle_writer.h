// Values as pickles, and back: what Python's torch.save and torch.load exchange.
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/ivalue.h"

namespace taeda::inline v0_2 {

/// The bytes of a file that Python's torch.load reads, also with `weights_only=True`: tensors
/// (which may share memory), numbers, texts, None, lists, tuples and dictionaries. Throws Error
/// for other values, NotImplementedError in a build without libzip.
std::vector<char> pickle_save(const IValue& value);
/// The value of such a file, or of one that Python's torch.save wrote; tensors on the CPU. Throws
/// Error, as io::load_pt, for what is damaged or has other kinds of values.
IValue pickle_load(const std::vector<char>& bytes);

}  // namespace taeda
