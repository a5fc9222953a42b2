// Faults for tests.  No alarm sounds as long as the proofs are right, so tests plant a fault for each of them to notice.
#pragma once

#include <string>
#include <vector>

#include "base/check.hpp"

namespace certree {

std::vector<std::string> faults();

// Lets a proof contradict itself in the named way.  Throws InternalError, unless the alarm is broken; std::invalid_argument if
// there is no such fault.
void plant_fault(const std::string& name);

}  // namespace certree
