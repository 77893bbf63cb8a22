#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

std::shared_ptr<Module> owned(Module* module) { return std::shared_ptr<Module>(module); }

namespace detail {

HolderBase::HolderBase(std::shared_ptr<Module> module) : module_(std::move(module)) {}
HolderBase::HolderBase(const HolderBase&) = default;
HolderBase::HolderBase(HolderBase&&) noexcept = default;
HolderBase& HolderBase::operator=(const HolderBase&) = default;
HolderBase& HolderBase::operator=(HolderBase&&) noexcept = default;
HolderBase::~HolderBase() = default;

void HolderBase::fail_empty() { TAEDA_CHECK(false, "Accessing empty ModuleHolder"); }

}  // namespace detail
}  // namespace taeda::inline v0_2::nn
