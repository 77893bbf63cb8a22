// Giving the host's cached memory back while a program idles.
#pragma once

namespace taeda::inline v0_2::detail {

class CachingAllocator;

/// Lets a thread trim the host's allocator while much is cached: Note [Idle programs]. `allocator`
/// lives until the process ends.
void trim_while_idle(CachingAllocator& allocator);

/// What that thread does: `wait` (a period long), trim, until there is nothing to come back for.
void keep_trimming(CachingAllocator& allocator, void (*wait)());

}  // namespace taeda::detail
