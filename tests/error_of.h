// What a call that must fail says.
#pragma once

#include <exception>
#include <string>

namespace taeda {

/// The text of the exception that `f` throws; "no error" if it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace taeda
