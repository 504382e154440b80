// SPDX-License-Identifier: Apache-2.0
//
// A separate stack to which one thread can switch and back: a test stops a function of the library
// in its middle with it. The switches are announced to the address and thread sanitizers.
//
// Invariant: resume() runs the body until it calls pause() or returns; both on the same thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRID_FIBER_ADDRESS 1
#elif __has_feature(thread_sanitizer)
#define STRID_FIBER_THREAD 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define STRID_FIBER_ADDRESS 1
#elif defined(__SANITIZE_THREAD__)
#define STRID_FIBER_THREAD 1
#endif
#if defined(STRID_FIBER_ADDRESS)
#include <sanitizer/common_interface_defs.h>
#elif defined(STRID_FIBER_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

namespace strid::test {

class Fiber {
  public:
    explicit Fiber(std::function<void()> body) : body_(std::move(body)), stack_(stack_bytes) {
        getcontext(&own_);
        own_.uc_stack.ss_sp = stack_.data();
        own_.uc_stack.ss_size = stack_.size();
        own_.uc_link = nullptr;
        // makecontext passes only ints: the pointer travels in two halves.
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                    static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
#if defined(STRID_FIBER_THREAD)
        own_tsan_ = __tsan_create_fiber(0);
#endif
    }
    ~Fiber() {
#if defined(STRID_FIBER_THREAD)
        __tsan_destroy_fiber(own_tsan_);
#endif
    }
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// From outside: runs the body up to its next pause.
    void resume() {
#if defined(STRID_FIBER_ADDRESS)
        void* fake_stack = nullptr;
        __sanitizer_start_switch_fiber(&fake_stack, stack_.data(), stack_.size());
#elif defined(STRID_FIBER_THREAD)
        caller_tsan_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(own_tsan_, 0);
#endif
        swapcontext(&caller_, &own_);
#if defined(STRID_FIBER_ADDRESS)
        __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
    }

    /// From inside the body: returns to the caller of resume().
    void pause() {
#if defined(STRID_FIBER_ADDRESS)
        void* fake_stack = nullptr;
        __sanitizer_start_switch_fiber(&fake_stack, caller_bottom_, caller_bytes_);
#elif defined(STRID_FIBER_THREAD)
        __tsan_switch_to_fiber(caller_tsan_, 0);
#endif
        swapcontext(&own_, &caller_);
#if defined(STRID_FIBER_ADDRESS)
        __sanitizer_finish_switch_fiber(fake_stack, &caller_bottom_, &caller_bytes_);
#endif
    }

  private:
    static constexpr std::size_t stack_bytes = 256 * 1024;

    static void enter(unsigned high, unsigned low) {
        auto* fiber = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low);
#if defined(STRID_FIBER_ADDRESS)
        __sanitizer_finish_switch_fiber(nullptr, &fiber->caller_bottom_, &fiber->caller_bytes_);
#endif
        fiber->body_();
        while (true) fiber->pause();  // resumed after the end: nothing to do
    }

    std::function<void()> body_;
    std::vector<char> stack_;
    ucontext_t own_{};
    ucontext_t caller_{};
#if defined(STRID_FIBER_ADDRESS)
    const void* caller_bottom_ = nullptr;
    std::size_t caller_bytes_ = 0;
#elif defined(STRID_FIBER_THREAD)
    void* own_tsan_ = nullptr;
    void* caller_tsan_ = nullptr;
#endif
};

}  // namespace strid::test
