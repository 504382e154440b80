// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/process_memory.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/base/utc_text.hpp>
#include <strid/program/report_log.hpp>

namespace strid {

namespace {

constexpr std::chrono::milliseconds least_period{1};
constexpr std::chrono::seconds reader_grace{2};

/// Throws GraphError.
std::chrono::nanoseconds checked(std::chrono::nanoseconds every) {
    if (every >= least_period) return every;
    throw GraphError("--metrics-every: at least 1ms from one report to the next");
}

}  // namespace

std::string json_status(const Running& running) {
    const bool is_over = running.finished();  // first: then the report is that of the end
    return fmt::format(R"({{"time":"{}","running":{},"resident_bytes":{},{})",
                       utc_text(std::chrono::system_clock::now()), !is_over, resident_bytes(),
                       running.report().to_json().substr(1));
}

ReportLog::ReportLog(ReportLogOptions options)
    : options_(std::move(options)),
      file_(options_.path, Writing::live),
      every_(checked(options_.every)) {
    struct stat status {};
    const bool is_there = ::stat(options_.path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (!is_there || status.st_size == 0) {
        file_.open();
        return;
    }
    const UnfinishedFile as_it_is{
        .beside = {}, .bytes = static_cast<std::uint64_t>(status.st_size), .mode = 0, .inode = 0};
    file_.open_to_go_on(&as_it_is);
    has_old_lines_ = true;
}

ReportLog::~ReportLog() {
    end();
}

void ReportLog::prepare(const CompanionContext& context) {
    if (options_.on_warning) return;
    options_.on_warning = [say = context.say](const std::string& text) {
        say(fmt::format("strid: warning: {}\n", text));
    };
}

void ReportLog::begin(Running& running) {
    if (std::exchange(has_old_lines_, false)) cut();
    thread_ = std::thread([this, &running] { follow(running); });
}

void ReportLog::end() noexcept {
    if (!thread_.joinable()) return;
    {
        std::unique_lock lock(mutex_);
        is_ending_ = true;
        changed_.notify_all();
        changed_.wait_for(lock, reader_grace, [this] { return is_done_; });
    }
    interrupted_.store(true, std::memory_order_relaxed);
    thread_.join();
}

void ReportLog::set_every(std::chrono::nanoseconds every) {
    const std::chrono::nanoseconds taken = checked(every);
    const std::lock_guard lock(mutex_);
    every_ = taken;
    is_changed_ = true;
    changed_.notify_all();
}

void ReportLog::follow(const Running& running) {
    strid::detail::name_this_thread("strid-metrics");
    std::unique_lock lock(mutex_);
    auto due = std::chrono::steady_clock::now() + every_;
    const auto is_asked = [this] { return is_ending_ || is_changed_; };
    for (;;) {
        const bool is_due = !changed_.wait_until(lock, due, is_asked);
        if (is_ending_) break;
        if (std::exchange(is_changed_, false)) {
            due = std::chrono::steady_clock::now() + every_;
            continue;
        }
        if (!is_due) continue;
        lock.unlock();
        append(running);
        lock.lock();
        const auto now = std::chrono::steady_clock::now();
        while (due <= now) due += every_;  // times that were missed are left out
    }
    lock.unlock();
    append(running);
    lock.lock();
    is_done_ = true;
    changed_.notify_all();
}

void ReportLog::append(const Running& running) noexcept {
    try {
        write(json_status(running) + '\n');
        is_broken_ = false;
    } catch (const Interrupted&) {
        if (!std::exchange(is_broken_, true)) {
            warn(fmt::format("--metrics: {}: nothing reads it; the last lines are lost",
                             options_.path));
        }
    } catch (const std::exception& error) {
        if (!std::exchange(is_broken_, true)) {
            warn(fmt::format("--metrics: {}; the run goes on, and lines are missing there",
                             error.what()));
        }
        cut();
    }
}

void ReportLog::write(const std::string& line) {
    if (!file_.is_open()) open_again();
    // Standard output cannot be cut: the part of a line there ends as a line of its own.
    if (is_broken_ && file_.written() != whole_bytes_) file_.write("\n", interrupted_);
    file_.write(line, interrupted_);
    whole_bytes_ = file_.written();
}

void ReportLog::open_again() {
    const UnfinishedFile whole_lines{.beside = {}, .bytes = whole_bytes_, .mode = 0, .inode = 0};
    file_.open_to_go_on(&whole_lines);
}

void ReportLog::cut() noexcept {
    try {
        file_.discard();
        open_again();
    } catch (const std::exception&) {  // the next line tries it once more
    }
}

void ReportLog::warn(const std::string& text) noexcept {
    try {
        if (options_.on_warning) options_.on_warning(text);
    } catch (...) {  // a warning that cannot be given changes nothing
    }
}

}  // namespace strid
