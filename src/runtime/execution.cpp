// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/engine/runtime/execution.hpp>

#include "execution_state.hpp"

namespace strid::runtime {

Execution::Execution(std::vector<Task*> tasks, ExecutionOptions options, Threads threads)
    : state_(std::make_unique<State>(std::move(tasks), std::move(options), threads)) {}

Execution::~Execution() {
    if (!state_->in_its_process()) static_cast<void>(state_.release());
}

bool Execution::in_its_process() const noexcept {
    return state_->in_its_process();
}

void Execution::start() {
    state_->start();
}

void Execution::wait() {
    state_->wait();
}

bool Execution::inside_a_step() noexcept {
    return Worker::current() != nullptr;
}

Threads Execution::threads() const noexcept {
    return state_->threads();
}

bool Execution::help() noexcept {
    return state_->help();
}

bool Execution::is_inside() const noexcept {
    return state_->is_inside();
}

bool Execution::wait_for(std::chrono::nanoseconds time) {
    return state_->wait_for(time);
}

void Execution::stop() noexcept {
    state_->stop();
}

void Execution::cancel() noexcept {
    state_->cancel();
}

void Execution::fail(std::exception_ptr cause) noexcept {
    state_->task_failed(std::move(cause));
}

bool Execution::finished() const noexcept {
    return state_->finished();
}

ExecutionSnapshot Execution::snapshot() const {
    return state_->snapshot();
}

std::vector<std::string> Execution::stalled() const {
    return state_->stalled();
}

}  // namespace strid::runtime
