// SPDX-License-Identifier: Apache-2.0
//
// A source or a sink by itself: opens it as a run does.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include <strid/operator/contract.hpp>
#include <strid/runtime/task.hpp>

namespace strid::test {

/// The task of something that is never run.
struct NoTask final : runtime::Task {
    NoTask() : Task("no task") {}
    runtime::StepResult step(std::int64_t&) override { return runtime::StepResult::finished; }
};

/// Sends on(Opened) with this context and this token.
template <class Class>
void open(Class& one, const Context& context = {}, std::stop_token stop = {}) {
    static NoTask task;
    one.on(Opened{context, task, std::move(stop)});
}

}  // namespace strid::test
