// SPDX-License-Identifier: Apache-2.0
//
// A library that a program is linked with, whose fork handlers allocate. It is initialised before a
// preloaded library, so its handlers run after that library's have prepared for the fork.
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <pthread.h>

namespace {

void allocate() {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{5000}, std::size_t{5} << 20}) {
        void* volatile memory = std::malloc(bytes);
        std::memset(memory, 1, bytes);
        std::free(memory);
    }
}

[[gnu::constructor]] void begin() {
    pthread_atfork(allocate, allocate, allocate);
}

}  // namespace
