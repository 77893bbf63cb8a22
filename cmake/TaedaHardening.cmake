# Checks that stop a program where an attacker would go on, in what is given to others: libtaeda, its plug-ins and
# the command. Not in the kernels, which are loops over memory that was checked before, and not in builds without
# optimisation or with sanitizers, which check more.

include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

option(TAEDA_HARDENING "Stack protector, checked functions of the C library, tables that are read-only once loaded" ON)

# Linked to by what is hardened. `taeda_stack_protector` is for what reads bytes that others wrote: it costs some
# instructions per call, which small operations show. `taeda_checked_containers` adds the standard library's
# assertions where what is done takes longer than they do.
add_library(taeda_hardening INTERFACE)
add_library(taeda_stack_protector INTERFACE)
add_library(taeda_checked_containers INTERFACE)
if(NOT TAEDA_HARDENING OR TAEDA_SANITIZE)
  return()
endif()

set(taeda_optimised "$<NOT:$<CONFIG:Debug>>")
check_cxx_compiler_flag(-fstack-protector-strong TAEDA_HAVE_STACK_PROTECTOR)
if(TAEDA_HAVE_STACK_PROTECTOR)
  target_compile_options(taeda_stack_protector INTERFACE "$<${taeda_optimised}:-fstack-protector-strong>")
endif()

# glibc says so where the compiler cannot do what level 3 asks for. A distribution's compiler may define the macro itself.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_cxx_source_compiles("#include <cstdio>\nint main() {}" TAEDA_HAVE_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
set(level 2)
if(TAEDA_HAVE_FORTIFY_3)
  set(level 3)
endif()
target_compile_options(taeda_hardening INTERFACE
  "$<${taeda_optimised}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${level}>")

check_linker_flag(CXX "LINKER:-z,relro,-z,now" TAEDA_HAVE_RELRO)
if(TAEDA_HAVE_RELRO)
  target_link_options(taeda_hardening INTERFACE "LINKER:-z,relro,-z,now")
endif()

target_compile_definitions(taeda_checked_containers INTERFACE "$<${taeda_optimised}:_GLIBCXX_ASSERTIONS>")
