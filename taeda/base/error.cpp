#include "taeda/base/error.h"

namespace taeda::detail {

void internal_error(const char* condition, const char* file, int line, const std::string& message) {
  throw Error(concat("internal error: ", condition, " failed at ", file, ":", line,
                     message.empty() ? "" : ": ", message));
}

}  // namespace taeda::detail
