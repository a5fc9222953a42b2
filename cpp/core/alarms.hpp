// Faults for tests.  An alarm is silent as long as the proofs are right, so tests plant what each of them must notice.
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
