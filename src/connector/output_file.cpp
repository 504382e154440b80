// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/output_file.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>
#include <strid/state/codec.hpp>

namespace strid {

namespace {

const std::atomic<bool> never_interrupted{false};

/// Closes the descriptor. Some file systems have nothing to synchronise.
void synchronize(const std::string& path, int descriptor) {
    int error = 0;
    do {
        error = ::fsync(descriptor) == 0 ? 0 : errno;
    } while (error == EINTR);
    ::close(descriptor);
    if (error == 0 || error == EINVAL || error == EROFS || error == ENOTSUP) return;
    throw InputOutputError(path + ": cannot write: " + std::generic_category().message(error));
}

}  // namespace

OutputFile::OutputFile(std::string path, Writing writing, RowFormat format)
    : destination_(std::move(path), writing),
      objects_(format == RowFormat::json_lines
                   ? std::make_unique<detail::MessageRows>(destination_.path())
                   : nullptr) {}

OutputFile::~OutputFile() = default;

void OutputFile::begin() {
    failure_ = nullptr;
    written_ = 0;
    if (run_ == nullptr || !run_->takes_snapshots()) {
        destination_.open();
    } else if (const auto* const before = run_->prepared(path())) {
        StateReader reader{*before};
        const auto unfinished = state::loaded<UnfinishedFile>(reader);
        destination_.open_to_go_on(&unfinished);
        if (unfinished.bytes != 0 && !objects_) {
            header_.clear();
            has_header_ = true;
        }
    } else {
        destination_.open_to_go_on(nullptr);
    }
    if (destination_.may_block()) return;  // the first append() waits, not the start of the run
    try {
        write({});
    } catch (...) {
        destination_.discard();
        throw;
    }
}

void OutputFile::open_until_commit(RunScope& run) {
    run.add(shared_from_this());
    const std::scoped_lock lock(mutex_);
    if (!destination_.is_open()) begin_for({}, &run);
}

bool OutputFile::open_if_closed() {
    const std::scoped_lock lock(mutex_);
    if (destination_.is_open()) return false;
    begin_for({}, nullptr);
    ++users_;
    return true;
}

void OutputFile::cut(std::uint64_t /*snapshot*/) {
    write({});
    written_ = destination_.written();
}

void OutputFile::prepare(std::uint64_t snapshot, StateWriter& writer) {
    UnfinishedFile unfinished;
    int descriptor = -1;
    {
        const std::scoped_lock lock(mutex_);
        if (destination_.is_open()) write({});
        unfinished = destination_.unfinished();
        // Else all users have closed before it, and all is before it.
        if (snapshot == snapshot_) unfinished.bytes = std::min(unfinished.bytes, written_);
        descriptor = destination_.to_synchronize();
    }
    if (descriptor >= 0) synchronize(path(), descriptor);  // while others append
    state::save(writer, unfinished);
}

void OutputFile::suspend() noexcept {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) destination_.suspend();
}

void OutputFile::let_go() noexcept {
    if (run_ != nullptr && run_->takes_snapshots()) {
        destination_.suspend();
    } else {
        destination_.discard();
    }
}

void OutputFile::write(std::string_view rows) {
    if (rows.empty() && header_.empty()) return;
    if (failure_) std::rethrow_exception(failure_);
    const auto& interrupted = run_ != nullptr ? run_->interrupted() : never_interrupted;
    try {
        if (objects_) rows = objects_of(rows);
        destination_.write(std::exchange(header_, {}), interrupted);
        destination_.write(rows, interrupted);
    } catch (...) {
        failure_ = std::current_exception();
        throw;
    }
}

/// The rows as objects of JSON; a header gives their names, and is not written.
std::string_view OutputFile::objects_of(std::string_view rows) {
    if (!header_.empty()) objects_->set_columns(names_in_row(std::exchange(header_, {})));
    objects_text_.clear();
    if (rows.empty()) return {};
    objects_->for_each(rows,
                       [this](const auto& message) { (objects_text_ += message.payload) += '\n'; });
    return objects_text_;
}

// A plain file stays open until the run has ended where snapshots need its place, or its name waits
// for that. Anything else ends with its stream, because its reader waits for the end.
void OutputFile::end() {
    const bool is_in_snapshots =
        run_ != nullptr && run_->takes_snapshots() && !destination_.may_block();
    const bool waits_for_name = run_ != nullptr && destination_.is_beside();
    if (!is_in_snapshots && !waits_for_name) commit_file();
}

void OutputFile::commit_file() {
    if (destination_.is_open()) write({});
    destination_.commit(run_ != nullptr ? run_->interrupted() : never_interrupted);
}

void OutputFile::commit() {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0) commit_file();
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
