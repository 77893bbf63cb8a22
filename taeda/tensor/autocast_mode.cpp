#include "taeda/tensor/autocast_mode.h"

namespace taeda {

constinit thread_local AutocastMode::State AutocastMode::state_;

}  // namespace taeda
