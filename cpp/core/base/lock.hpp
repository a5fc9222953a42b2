// Locks of what the threads of a solve share.
//
// The caller's thread alone calls back: observers, which may run Python code for any time.  Other threads would wait if it
// did so under a lock, and a callback that waits for one of them would never end.  So the budget counts the locks of the
// caller's thread, and a call back under one of them is an alarm.
#pragma once

#include <mutex>

#include "base/budget.hpp"

namespace certree {

class SharedLock {
 public:
  SharedLock(std::mutex& mutex, Budget& budget) : lock_(mutex), budget_(budget) { budget_.count_lock(1); }
  ~SharedLock() { budget_.count_lock(-1); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  Budget& budget_;
};

}  // namespace certree
