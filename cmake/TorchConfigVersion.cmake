# The version of libtorch's interface that the forwarding headers follow. A program that asks for an
# older one gets it.
set(PACKAGE_VERSION 2.0.0)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
