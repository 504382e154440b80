// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include <strid/operator/run_scope.hpp>

namespace strid {

RunScope::~RunScope() {
    for (const auto& result : results_) {
        if (takes_snapshots_) {
            result->suspend();
        } else {
            result->discard();
        }
    }
}

void RunScope::add(std::shared_ptr<Result> result) {
    const std::lock_guard lock(mutex_);
    if (std::find(results_.begin(), results_.end(), result) != results_.end()) return;
    results_.push_back(std::move(result));
}

RunScope::Prepared RunScope::prepare(std::uint64_t snapshot) {
    std::vector<std::shared_ptr<Result>> results;
    {
        const std::lock_guard lock(mutex_);
        results = results_;
    }
    Prepared prepared;
    for (const auto& result : results) {
        const std::string name = result->name();
        if (name.empty()) continue;
        StateBytes bytes;
        StateWriter writer{bytes};
        result->prepare(snapshot, writer);
        writer.flush();
        prepared[name] = bytes.take();
    }
    return prepared;
}

void RunScope::warn(const std::string& text) {
    const std::lock_guard lock(warning_);
    if (warn_) warn_(text);
}

void RunScope::commit() {
    std::vector<std::shared_ptr<Result>> results;
    {
        const std::lock_guard lock(mutex_);
        results.swap(results_);
    }
    std::exception_ptr failure;
    for (const auto& result : results) {
        try {
            result->commit();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace strid
