// Memory that a solve owns: every large buffer is an `AlignedArray` or a `ChargedVector` charged to the solve's
// `MemoryBudget`, so that memory_limit holds for the solve and not for the process.  Buffers grow and are reused; the inner
// loops never allocate.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace certree {

// Thrown when a buffer would exceed the memory of the budget.  To a solve that is what it is when the machine has no
// more memory: the status "memory_limit", and the best tree so far.
struct MemoryLimitReached : std::bad_alloc {
  const char* what() const noexcept override { return "certree: the memory limit is reached"; }
};

class MemoryBudget {
 public:
  explicit MemoryBudget(std::int64_t limit = 0) : limit_(limit) {}  // 0: no limit
  // For another solve: its own limit, and its own peak.
  void restart(std::int64_t limit) {
    limit_ = limit;
    peak_.store(used(), std::memory_order_relaxed);
  }
  void charge(std::int64_t bytes) {
    if (!try_charge(bytes)) throw MemoryLimitReached{};
  }
  bool try_charge(std::int64_t bytes) {
    const auto now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (limit_ > 0 && now > limit_) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    auto seen = peak_.load(std::memory_order_relaxed);
    while (seen < now && !peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
    return true;
  }
  void release(std::int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::int64_t limit() const { return limit_; }

 private:
  std::int64_t limit_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
};

// What a part of a solve takes beside its buffers, such as the nodes of a map, for as long as it lives.
class MemoryCharge {
 public:
  MemoryCharge(MemoryBudget& memory, std::size_t bytes) : memory_(memory), bytes_(static_cast<std::int64_t>(bytes)) {
    memory_.charge(bytes_);
  }
  ~MemoryCharge() { memory_.release(bytes_); }
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

 private:
  MemoryBudget& memory_;
  std::int64_t bytes_;
};

// A growable buffer of trivially copyable values on cache-line boundaries.  `ensure` does not keep the contents.
template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(MemoryBudget& memory) : memory_(&memory) {}
  AlignedArray(const AlignedArray&) = delete;
  AlignedArray& operator=(const AlignedArray&) = delete;
  AlignedArray(AlignedArray&& other) noexcept { swap(other); }
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedArray() { reset(); }

  T* ensure(std::size_t count) {
    if (count > capacity_) grow(count);
    return data_;
  }
  // The same, and what is in it is left open: the system gives pages of large buffers when they are first written to, so that
  // zeros in all of them would take seconds that nobody asked for.
  T* ensure_unset(std::size_t count) {
    if (count > capacity_) grow(count, kTail);
    return data_;
  }
  void fill_zero(std::size_t count) {
    if (count > 0) std::memset(ensure(count), 0, count * sizeof(T));  // memset takes no null pointer, not even for 0
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t capacity() const { return capacity_; }
  void reset() {
    if (data_ != nullptr) {
      ::operator delete(data_, std::align_val_t{64});
      if (memory_ != nullptr) memory_->release(bytes(capacity_));
    }
    data_ = nullptr;
    capacity_ = 0;
  }
  void swap(AlignedArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(memory_, other.memory_);
  }

 private:
  static std::int64_t bytes(std::size_t count) { return static_cast<std::int64_t>(count * sizeof(T)); }
  static constexpr std::size_t kTail = 256 / sizeof(T);  // padding, and a cache line before it
  // Writes zeros to the last values, or to all.
  void grow(std::size_t count, std::size_t zeros = std::size_t(-1)) {
    reset();
    // Whole cache lines, so that vector loads may read past the last element.
    const std::size_t rounded = (count * sizeof(T) + 127) / 64 * 64 / sizeof(T);
    if (memory_ != nullptr) memory_->charge(bytes(rounded));
    try {
      data_ = static_cast<T*>(::operator new(rounded * sizeof(T), std::align_val_t{64}));
    } catch (const std::bad_alloc&) {
      if (memory_ != nullptr) memory_->release(bytes(rounded));
      throw MemoryLimitReached{};
    }
    // Padding lanes are read (never used), so they must hold something.
    zeros = std::min(zeros, rounded);
    std::memset(static_cast<void*>(data_ + (rounded - zeros)), 0, zeros * sizeof(T));
    capacity_ = rounded;
  }

  T* data_ = nullptr;
  std::size_t capacity_ = 0;
  MemoryBudget* memory_ = nullptr;
};

// For standard containers whose size grows with the data: on cache-line boundaries, too, since kernels read whole lines.
template <class T>
class ChargedAllocator {
 public:
  using value_type = T;
  ChargedAllocator(MemoryBudget& memory) : memory_(&memory) {}  // implicit: containers are made from the budget
  template <class U>
  ChargedAllocator(const ChargedAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(std::size_t count) {
    memory_->charge(bytes(count));
    try {
      return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}));
    } catch (const std::bad_alloc&) {
      memory_->release(bytes(count));
      throw MemoryLimitReached{};
    }
  }
  void deallocate(T* data, std::size_t count) {
    memory_->release(bytes(count));
    ::operator delete(data, std::align_val_t{64});
  }
  MemoryBudget* memory() const { return memory_; }
  bool operator==(const ChargedAllocator& other) const { return memory_ == other.memory_; }

 private:
  static std::int64_t bytes(std::size_t count) { return static_cast<std::int64_t>(count * sizeof(T)); }

  MemoryBudget* memory_;
};

template <class T>
using ChargedVector = std::vector<T, ChargedAllocator<T>>;

// Gives the memory of a vector back.
template <class T>
void release(ChargedVector<T>& values) {
  ChargedVector<T>(values.get_allocator()).swap(values);
}

}  // namespace certree
