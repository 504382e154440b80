// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include <chrono>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/program/session.hpp>

namespace strid::tool {

namespace {

bool is_interrupted(const std::exception_ptr& cause) noexcept {
    try {
        if (cause) std::rethrow_exception(cause);
    } catch (const Interrupted&) {
        return true;
    } catch (...) {
    }
    return false;
}

}  // namespace

Interruption::Interruption() : thread_([this] { follow(); }) {}

Interruption::~Interruption() {
    ended_.store(true, std::memory_order_relaxed);
    signals_.wake();
    thread_.join();
}

void Interruption::check() const {
    if (requested_.load(std::memory_order_relaxed)) throw Interrupted();
}

int Interruption::exit_code() const noexcept {
    return ExitCode::signalled + signals_.last();
}

void Interruption::follow() {
    using namespace std::chrono_literals;
    strid::detail::name_this_thread("strid-signals");
    while (!ended_.load(std::memory_order_relaxed)) {
        if (signals_.count() > 0) {
            // A signal that comes from here on ends the process.
            signals_.restore();
            requested_.store(true, std::memory_order_relaxed);
            return;
        }
        signals_.wait_for(1h);
    }
}

int run_program(const std::function<int(const Interruption&)>& body) noexcept {
    return with_errors_reported([&] {
        const Interruption interruption;
        try {
            return body(interruption);
        } catch (const Interrupted&) {
            return interruption.exit_code();
        } catch (const OperatorError& error) {
            if (is_interrupted(error.cause())) return interruption.exit_code();
            // The exception of a node names the fault; the name of the node is of no use to a user.
            if (error.cause()) std::rethrow_exception(error.cause());
            throw;
        }
    });
}

}  // namespace strid::tool
