// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/output_file.hpp>

namespace strid {

namespace {

const std::atomic<bool> never_interrupted{false};

}  // namespace

void OutputFile::begin(std::string_view header, RunScope* run) {
    failure_ = nullptr;
    rows_missing_ = false;
    run_ = run;
    header_ = header;
    destination_.open();
    if (destination_.may_block()) return;  // the first append() waits, not the start of the run
    try {
        write({});
    } catch (...) {
        destination_.discard();
        throw;
    }
}

void OutputFile::open(std::string_view header, RunScope* run) {
    if (run != nullptr) run->add(shared_from_this());
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) begin(header, run);
    ++users_;
}

void OutputFile::open_until_commit(RunScope& run) {
    run.add(shared_from_this());
    const std::scoped_lock lock(mutex_);
    if (!destination_.is_open()) begin({}, &run);
}

bool OutputFile::open_if_closed() {
    const std::scoped_lock lock(mutex_);
    if (destination_.is_open()) return false;
    begin({}, nullptr);
    ++users_;
    return true;
}

void OutputFile::append(std::string_view rows) {
    const std::scoped_lock lock(mutex_);
    write(rows);
}

void OutputFile::write(std::string_view rows) {
    if (rows.empty() && header_.empty()) return;
    if (failure_) std::rethrow_exception(failure_);
    const auto& interrupted = run_ != nullptr ? run_->interrupted() : never_interrupted;
    try {
        destination_.write(std::exchange(header_, {}), interrupted);
        destination_.write(rows, interrupted);
    } catch (...) {
        failure_ = std::current_exception();
        throw;
    }
}

void OutputFile::close() {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0 || --users_ > 0) return;
    if (rows_missing_) return destination_.discard();
    // Anything but a plain file ends with its stream, because its reader waits for that.
    if (run_ == nullptr || !destination_.is_beside()) finish();
}

void OutputFile::finish() {
    if (destination_.is_open()) write({});
    destination_.commit(run_ != nullptr ? run_->interrupted() : never_interrupted);
}

void OutputFile::abandon() noexcept {
    const std::scoped_lock lock(mutex_);
    rows_missing_ = true;
    if (users_ != 0 && --users_ == 0) destination_.discard();
}

void OutputFile::commit() {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) finish();
}

void OutputFile::discard() noexcept {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) destination_.discard();
}

FileUse OutputFile::use() const {
    return {.kind = FileUse::Kind::writes,
            .path = path(),
            .beside = destination_.writing() == Writing::whole,
            .shared = this};
}

}  // namespace strid
