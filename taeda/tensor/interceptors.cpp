#include "taeda/tensor/interceptors.h"

namespace taeda::inline v0_2 {

constinit thread_local uint32_t Interceptors::word_ = 0;

}  // namespace taeda::inline v0_2
