// What blocks are allocated for, while somebody wants to know: memory_stats.h.
#pragma once

#include <string>

namespace taeda::inline v0_2::detail {

class CachingAllocator;

/// The one copy of a text. Texts are module paths and names of operations: few, used again and
/// again.
const std::string* intern(std::string text);

/// The path of the modules that are being called on this thread, or nullptr.
const std::string* current_module_path();

/// Remembers the operation that an allocation is for, as soon as it is known.
void note_allocation(CachingAllocator& allocator, void* p, uint64_t stamp);

/// Begins recording where TAEDA_MEMORY_HISTORY asks for it; the first call decides.
void start_history_from_environment();

}  // namespace taeda::detail
