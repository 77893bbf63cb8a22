// How failures inside datasets reach the one who iterates over a loader.
#pragma once

#include <exception>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::data {

/// Stands in for an exception of the user's own type that a dataset threw; the message is the
/// original's, followed by where it happened.
class WorkerException : public Error {
 public:
  WorkerException(std::string message, std::exception_ptr original)
      : Error(std::move(message)), original_exception(std::move(original)) {}
  /// Makes the error with libtorch's text: "Caught exception in DataLoader worker thread. Original
  /// message: ...".
  explicit WorkerException(std::exception_ptr original);
  std::exception_ptr original_exception;
};

namespace detail {

/// Rethrows the exception in flight with a line of context. Exceptions of the library keep their
/// type; others become a WorkerException.
[[noreturn]] void rethrow_with_context(const std::string& line);

/// Runs `fn`; a failure is passed on with "while reading <what> <number>".
template <class F>
void name_failure(const char* what, size_t number, F&& fn) {
  try {
    fn();
  } catch (...) {
    rethrow_with_context(taeda::detail::concat("while reading ", what, " ", number));
  }
}

}  // namespace detail
}  // namespace taeda::data
