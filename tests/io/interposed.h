// Calls of the system that fail when a test says so: the program's definitions come before libc's.
#pragma once

namespace taeda {

/// While it lives, fsync of a folder fails with EIO.
class FailingFolderSync {
 public:
  FailingFolderSync() { active = true; }
  ~FailingFolderSync() { active = false; }
  static bool active;
};

/// While it lives, this many requests for random numbers are answered with the same one.
class RepeatedRandom {
 public:
  explicit RepeatedRandom(int times) { left = times; }
  ~RepeatedRandom() { left = 0; }
  static int left;
};

/// While it lives, the next read of a file at a place finds it cut short: half of it is gone.
class CutShort {
 public:
  CutShort() { active = true; }
  ~CutShort() { active = false; }
  static bool active;
};

}  // namespace taeda
