// SPDX-License-Identifier: Apache-2.0
//
// A program that finds no memory before main(), where the options of the command line are prepared,
// or none for an exception, ends with one line and status 1 as well. It is linked into each program
// by its symbol (CMakeLists.txt).
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#include <unistd.h>

#include <strid/program/session.hpp>

namespace {

/// Also where there was no memory for the exception itself.
bool is_no_memory() noexcept {
    try {
        if (const auto current = std::current_exception()) std::rethrow_exception(current);
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
        return false;
    }
    constexpr std::size_t some_bytes = std::size_t{64} << 10;
    const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(some_bytes), &std::free);
    return memory == nullptr;
}

std::terminate_handler handler_before = nullptr;

[[noreturn]] void end() noexcept {
    if (is_no_memory()) {
        strid::write_to_stderr("strid: error: out of memory\n");
        ::_exit(strid::ExitCode::failed);
    }
    if (handler_before != nullptr) handler_before();
    std::abort();
}

}  // namespace

// Before the objects of other sources are made.
extern "C" [[gnu::constructor(101)]] void strid_report_no_memory() {
    handler_before = std::set_terminate(end);
}
