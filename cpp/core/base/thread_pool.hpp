// A few threads that share the tasks of one caller at a time.
//
// They wait between calls, so that a call costs some microseconds.  Which thread takes a task depends on the clock; what the
// tasks compute must not.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace certree {

class ThreadPool {
 public:
  using Task = std::function<void(int worker, std::int64_t number)>;

  // With the caller, who is worker 0.  If the system cannot give so many threads, half of what it can: their work needs
  // memory, too.
  explicit ThreadPool(int size) {
    while (!start(size)) {
      size = this->size() / 2;
      dismiss();
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { dismiss(); }

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls task(worker, number) for the numbers 0 .. n - 1, and throws what the first failed call did.  `idle` is called now
  // and then by the caller, who waits for others, also if it fails.
  void run(std::int64_t n, const Task& task, const std::function<void()>& idle = {}) {
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      next_ = 0;
      n_ = n;
      n_busy_ = static_cast<int>(threads_.size());
      error_ = nullptr;
      ++call_;
    }
    wake_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    bool is_watched = static_cast<bool>(idle);
    while (is_watched && !done_.wait_for(lock, std::chrono::milliseconds(20), [this] { return n_busy_ == 0; })) {
      lock.unlock();
      is_watched = guard(idle);
      lock.lock();
    }
    done_.wait(lock, [this] { return n_busy_ == 0; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  bool start(int size) {
    is_over_ = false;
    if (size <= 1) return true;
    try {
      threads_.reserve(static_cast<std::size_t>(size - 1));
      for (int worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  void dismiss() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void serve(int worker) {
    std::int64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return is_over_ || call_ != seen; });
        if (is_over_) return;
        seen = call_;
      }
      work(worker);
      const std::lock_guard lock(mutex_);
      if (--n_busy_ == 0) done_.notify_one();
    }
  }

  void work(int worker) {
    guard([&] {
      for (std::int64_t number = next_++; number < n_; number = next_++) (*task_)(worker, number);
    });
  }

  // After a failure no further task begins.
  template <class Action>
  bool guard(const Action& action) {
    try {
      action();
      return true;
    } catch (...) {
      next_ = n_;
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Task* task_ = nullptr;
  std::atomic<std::int64_t> next_{0};
  std::int64_t n_ = 0, call_ = 0;
  int n_busy_ = 0;
  bool is_over_ = false;
  std::exception_ptr error_;
};

}  // namespace certree
