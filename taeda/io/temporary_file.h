// A file under a name that nobody else has, next to where it shall go.
#pragma once

#include <filesystem>

namespace taeda::inline v0_2::io {

// Note [Whose a temporary file is]
//
// A name is `.<target>.<16 random digits>.taeda~`. Process numbers would not do: in containers
// every program may be number 1, so a name left by one that was killed would be in the way of the
// next.
//
// Whoever writes one holds a lock on it (flock), which the system gives up when the process ends,
// however it ends. So a file with such a name whose lock is free is nobody's, and the first write
// of a process to a folder removes those it finds. A new file is not locked for a moment; so its
// writer looks, once it holds the lock, whether the name is still there, and takes another one if
// not. A lock of another machine is seen only where the file system is this machine's alone; on
// others a file must also be a day old.

struct TemporaryFile {
  std::filesystem::path path;
  int descriptor = -1;
};

/// Makes a file beside `target` with these permissions (less the umask) and locks it. Sets errno
/// and leaves `descriptor` negative on failure.
TemporaryFile make_temporary_beside(const std::filesystem::path& target, unsigned mode);

/// Removes what processes that were killed left in a folder.
void sweep_temporaries(const std::filesystem::path& folder);

}  // namespace taeda::io
