// PyTorch's checkpoints: what torch.save and libtorch's torch::save write, a pickle and the
// tensors' bytes (io/pt_source.h has the containers, before and since PyTorch 1.6). Only what state
// dicts need is understood, so that a file from anybody can be opened: nothing in it is run, and
// what it claims is checked.
#pragma once

#include <string>

#include "taeda/base/ordered_dict.h"
#include "taeda/io/safetensors.h"

namespace taeda::inline v0_2::io {

/// What a file holds, by path: keys and positions joined with dots, {"model": {"fc.weight": ...},
/// "epoch": 3} gives the tensor "model.fc.weight" and the value "epoch". A file that holds one
/// tensor alone gives "tensor".
struct PtFile {
  NamedTensors tensors;  ///< on the CPU; tensors that shared memory still do
  Metadata values;       ///< numbers, texts, True, False and None, as texts

  /// The tensors below a name ("model"), without it; all without a name. Throws ValueError when
  /// there are none, listing what there is.
  OrderedDict<std::string, Tensor> state_dict(const std::string& section = "") const;
};

/// Reads a file:
///
///     network->load_state_dict(io::load_pt("resnet18.pt").state_dict());
///
/// Throws Error "<path> is no checkpoint that can be read: <reason>" for damaged files and for
/// those that name anything beyond tensors, parameters, numbers, texts, containers and libtorch's
/// modules;
/// NotImplementedError in a build without libzip.
PtFile load_pt(const std::string& path);
/// The same of a file in memory, which errors call `name`.
PtFile parse_pt(std::string bytes, const std::string& name);

}  // namespace taeda::io
