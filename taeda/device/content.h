// What has an error of its own for who asks it for memory: Note [Storages without memory] in
// host_copies.h.
#pragma once

#include "taeda/device/storage.h"

namespace taeda::inline v0_2 {

struct OwnedContent : StorageContent {
  /// In the place of an address.
  [[noreturn]] virtual void refuse() const = 0;
};

}  // namespace taeda::inline v0_2
