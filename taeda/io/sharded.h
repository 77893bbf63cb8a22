// Tensors in several safetensors files with an index that says which holds what, as large models
// are published: "model.safetensors.index.json" beside "model-00001-of-00002.safetensors".
#pragma once

#include <cstdint>
#include <string>

#include "taeda/io/archive.h"

namespace taeda::inline v0_2::io {

/// The data of a shard, unless one tensor alone is more.
inline constexpr uint64_t kShardBytes = 5'000'000'000;

/// Writes shards of at most `shard_bytes` beside the index, and the index last: each file appears
/// whole or not at all. Throws ValueError for a path that does not end with ".index.json" and for
/// no tensors.
void save_sharded(const Archive& archive, const std::string& path,
                  uint64_t shard_bytes = kShardBytes);
/// The tensors that an index names; the shards, safetensors or PyTorch's, lie in its folder. `mmap`
/// as in SafeTensors::open. Throws Error "<path> is no valid index of shards: <reason>".
Archive load_sharded(const std::string& path, bool mmap = false);

}  // namespace taeda::io
