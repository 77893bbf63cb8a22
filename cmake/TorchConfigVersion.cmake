# The PyTorch whose names and behaviour are followed. A program that asks for an older one gets it; which of its names
# are there, docs/libtorch.md says.
set(PACKAGE_VERSION 2.15.0)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
