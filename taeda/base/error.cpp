#include "taeda/base/error.h"

namespace taeda {

void Error::enter_module(const std::string& name, const std::string& type) {
  if (path_at_ == std::string::npos) {
    message_ += "\nin module ";
    path_at_ = message_.size();
    message_ += name.empty() ? type : name + " (" + type + ")";
  } else if (!name.empty()) {
    message_.insert(path_at_, name + ".");
  }
}

}  // namespace taeda

namespace taeda::detail {

void internal_error(const char* condition, const char* file, int line, const std::string& message) {
  throw Error(concat("internal error: ", condition, " failed at ", file, ":", line,
                     message.empty() ? "" : ": ", message));
}

}  // namespace taeda::detail
