// SPDX-License-Identifier: Apache-2.0
//
// The function of one task of a graph: any callable without parameters, moved in, called once. One
// of up to 64 bytes is kept in place, so that most tasks allocate nothing.
//
// Threads: one at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace strid::pattern {

class TaskFunction {
  public:
    TaskFunction() = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, TaskFunction>)
    explicit TaskFunction(F&& function) {
        using Function = std::remove_cvref_t<F>;
        if constexpr (sizeof(Function) <= bytes && alignof(Function) <= alignof(Storage) &&
                      std::is_nothrow_move_constructible_v<Function>) {
            emplace<Function>(std::forward<F>(function));
        } else {
            emplace<Boxed<Function>>(
                Boxed<Function>{std::make_unique<Function>(std::forward<F>(function))});
        }
    }
    TaskFunction(TaskFunction&& other) noexcept { take(other); }
    TaskFunction& operator=(TaskFunction&& other) noexcept {
        if (this == &other) return *this;
        reset();
        take(other);
        return *this;
    }
    ~TaskFunction() { reset(); }

    void operator()() { actions_->call(storage_.bytes); }
    void reset() noexcept {
        if (const Actions* const actions = std::exchange(actions_, nullptr)) {
            actions->destroy(storage_.bytes);
        }
    }

  private:
    static constexpr std::size_t bytes = 64;
    struct alignas(std::max_align_t) Storage {
        std::byte bytes[TaskFunction::bytes];
    };
    struct Actions {
        void (*call)(void*);
        void (*move_to)(void*, void*) noexcept;
        void (*destroy)(void*) noexcept;
    };
    template <class Function>
    struct Boxed {
        std::unique_ptr<Function> function;
        void operator()() { (*function)(); }
    };

    template <class Function, class F>
    void emplace(F&& function) {
        static constexpr Actions actions{
            [](void* at) { static_cast<void>((*static_cast<Function*>(at))()); },
            [](void* from, void* to) noexcept {
                ::new (to) Function(std::move(*static_cast<Function*>(from)));
                std::destroy_at(static_cast<Function*>(from));
            },
            [](void* at) noexcept { std::destroy_at(static_cast<Function*>(at)); }};
        ::new (static_cast<void*>(storage_.bytes)) Function(std::forward<F>(function));
        actions_ = &actions;
    }
    void take(TaskFunction& other) noexcept {
        actions_ = std::exchange(other.actions_, nullptr);
        if (actions_ != nullptr) actions_->move_to(other.storage_.bytes, storage_.bytes);
    }

    const Actions* actions_ = nullptr;
    Storage storage_;
};

}  // namespace strid::pattern
