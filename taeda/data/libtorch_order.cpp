#include "taeda/data/libtorch_order.h"

#include <atomic>

namespace taeda::inline v0_2::data::detail {

namespace {
std::atomic<bool> order_of_libtorch{false};
}  // namespace

void use_libtorch_order(bool on) noexcept { order_of_libtorch = on; }

bool uses_libtorch_order() noexcept { return order_of_libtorch; }

}  // namespace taeda::inline v0_2::data::detail
