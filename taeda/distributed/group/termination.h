// The flight record of a process that is told to end.
#pragma once

#include <string>

namespace taeda::inline v0_2::distributed {

/// Where the flight record goes when a group fails and on SIGTERM: the value of
/// TAEDA_FLIGHT_RECORDER, a prefix of paths; null while it has none.
const char* flight_record_prefix();
/// Writes <prefix><rank>.json, if there is a prefix. Why that failed, or "".
std::string write_flight_record_of(int rank);
/// From now on, with a prefix, SIGTERM first has the record written, then ends the process as
/// before. Leaves a program's own handler alone. Later calls do nothing.
void write_flight_record_on_sigterm(int rank);

}  // namespace taeda::distributed
