// Certificates of processes, made for a test.
#pragma once

#include <string>

#include "taeda/distributed/security.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {

/// Files of certificates and keys in `folder`, of a process whose certificate a new authority of
/// that name signed.
Security certified_process(const TemporaryFolder& folder, const std::string& authority);

}  // namespace taeda::distributed
