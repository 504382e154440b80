// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <strid/base/destination.hpp>
#include <strid/base/log.hpp>
#include <strid/base/quantity.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/base/reloads.hpp>
#include <strid/engine/base/thread_limits.hpp>
#include <strid/program/picture.hpp>
#include <strid/program/report_log.hpp>
#include <strid/program/session.hpp>

#include "progress.hpp"
#include "service_notice.hpp"
#include "watch.hpp"

namespace strid {

namespace {

RunOptions with_reports(const RunOptions& options, Terminal& terminal) {
    RunOptions result = options;
    if (!options.on_warning) {
        result.on_warning = [&terminal](const std::string& text) {
            terminal.say(fmt::format("strid: warning: {}\n", text));
        };
    }
    if (options.watchdog.count() == 0 || options.on_stalled) return result;
    result.on_stalled = [&terminal, period = options.watchdog](const auto& names) {
        terminal.say(fmt::format("strid: no progress for {:.3g} s: {}\n",
                                 std::chrono::duration<double>(period).count(),
                                 fmt::join(names, ", ")));
    };
    return result;
}

std::string_view how_it_ended(Outcome outcome, int signals, bool is_suspended) noexcept {
    if (outcome == Outcome::cancelled) return "cancelled";
    const bool has_ended_itself = is_suspended && outcome == Outcome::finished;
    if (signals == 0 || has_ended_itself) return "done";
    return is_suspended ? "stopped at a snapshot" : "stopped and drained";
}

void log_start(const RunReport& report) {
    const std::string text = fmt::format("{}: started", report.graph);
    const std::array<LogField, 4> fields{{{"graph", report.graph},
                                          {"version", library_version()},
                                          {"tasks", report.tasks},
                                          {"workers", report.workers}}};
    log_event({.event = "started", .text = text, .fields = fields});
}

void log_end(const RunReport& report, std::uint64_t bytes, std::string_view how) {
    const std::string text = fmt::format("{}: {}", report.graph, how);
    const std::array<LogField, 6> fields{{{"graph", report.graph},
                                          {"how", how},
                                          {"seconds", report.seconds},
                                          {"records_in", report.records_in()},
                                          {"records_out", report.records_out()},
                                          {"bytes_read", bytes}}};
    log_event({.event = "ended", .text = text, .fields = fields});
}

/// True where standard output is a pipe whose reader has closed it.
bool stdout_is_closed() noexcept {
    pollfd asked{STDOUT_FILENO, 0, 0};
    return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLERR) != 0;
}

int report_no_memory() noexcept {
    write_to_stderr("strid: error: out of memory\n");
    return ExitCode::failed;
}

int report_error(const std::exception& error, int code) noexcept {
    try {
        write_to_stderr(fmt::format("strid: error: {}\n", error.what()));
    } catch (...) {
        return report_no_memory();
    }
    return code;
}

/// The name of the number is of no use where std::thread has found a limit.
int report_system_error(const std::system_error& error) noexcept {
    if (error.code() != std::errc::resource_unavailable_try_again) {
        return report_error(error, ExitCode::failed);
    }
    try {
        write_to_stderr(
            fmt::format("strid: error: no thread could be made: {}\n", reached_thread_limit()));
    } catch (...) {
        return report_no_memory();
    }
    return ExitCode::failed;
}

bool is_input_output_error(const std::exception_ptr& cause) noexcept {
    try {
        if (cause) std::rethrow_exception(cause);
    } catch (const InputOutputError&) {
        return true;
    } catch (...) {
    }
    return false;
}

/// Open for what is known at the end; null: nowhere.
std::unique_ptr<Destination> opened(const std::string& path) {
    if (path.empty()) return nullptr;
    auto file = std::make_unique<Destination>(path, Writing::whole);
    file->open();
    return file;
}

void fill(Destination& file, std::string_view text) {
    const std::atomic<bool> interrupted{false};  // signals end the process again
    file.write(text, interrupted);
    file.commit(interrupted);
}

/// The companions of a run: those of the session, the notices of a service, the log of reports.
class Companions {
  public:
    explicit Companions(const SessionOptions& session) : all_(session.companions) {
        if (auto notice = ServiceNotice::of_environment()) all_.push_back(std::move(notice));
        if (session.metrics_every == std::chrono::nanoseconds::zero()) return;
        if (session.metrics_path.empty()) throw GraphError("--metrics-every needs --metrics FILE");
        const auto log = std::make_shared<ReportLog>(
            ReportLogOptions{.path = session.metrics_path, .every = session.metrics_every});
        all_.push_back(log);
        every_.add("metrics-every", [log](const std::string& text) {
            const std::chrono::nanoseconds every = read_duration(text);
            if (every < std::chrono::milliseconds{1}) {
                throw GraphError("--metrics-every: at least 1ms from one report to the next");
            }
            return [log, every] { log->set_every(every); };
        });
    }
    ~Companions() {
        while (prepared_ != 0) all_[--prepared_]->end();
    }
    Companions(const Companions&) = delete;
    Companions& operator=(const Companions&) = delete;

    void prepare(const CompanionContext& context) {
        while (prepared_ != all_.size()) all_[prepared_++]->prepare(context);
    }
    void begin(Running& running) {
        for (const auto& companion : all_) companion->begin(running);
    }

  private:
    std::vector<std::shared_ptr<Companion>> all_;
    std::size_t prepared_ = 0;
    detail::Reloads::Entry every_;
};

}  // namespace

void check_files(const Graph& graph, const SessionOptions& session) {
    std::vector<FileUse> uses = graph.files();
    uses.insert(uses.end(), session.files.begin(), session.files.end());
    const auto add = [&uses](const std::string& path, bool beside, const char* option) {
        if (path.empty()) return;
        uses.push_back(
            {.kind = FileUse::Kind::writes, .path = path, .beside = beside, .user = option});
    };
    const bool logs = session.metrics_every != std::chrono::nanoseconds::zero();
    add(session.metrics_path, !logs, "--metrics");
    add(session.picture_path, true, "--graph");
    check_files(uses);
    const bool results_are_there = std::ranges::any_of(uses, [](const FileUse& use) {
        return use.kind == FileUse::Kind::writes && use.path == "-" && use.user != "--metrics";
    });
    if (logs && session.metrics_path == "-" && results_are_there) {
        throw GraphError(
            "--metrics - with --metrics-every: its lines would stand among the "
            "results; name a file");
    }
}

int run_session(const Graph& graph, const RunOptions& options, const SessionOptions& session) {
    check_files(graph, session);
    // A picture that cannot be drawn or written is an error before the run begins.
    if (!session.picture_path.empty()) {
        static_cast<void>(picture_of(graph.description(options), session.picture_path));
    }
    const auto picture = opened(session.picture_path);
    const bool logs = session.metrics_every != std::chrono::nanoseconds::zero();
    const auto metrics = logs ? nullptr : opened(session.metrics_path);
    Terminal terminal;
    RunReport report;
    Outcome outcome = Outcome::finished;
    int signals = 0;
    int last_signal = 0;
    {
        std::optional<Running> running;  // outlives the watch
        Watch watch(session, terminal);
        Companions companions(session);
        companions.prepare({.graph = graph,
                            .options = options,
                            .say = [&terminal](const std::string& text) { terminal.say(text); },
                            .stop = [&watch] { watch.stop(); },
                            .is_stopping = [&watch] { return watch.signals() != 0; }});
        RunOptions watched = with_reports(options, terminal);
        watched.stop_opening = watch.stop_opening();
        watched.on_end = [&outcome, next = options.on_end](const RunEnd& end) {
            outcome = end.outcome;
            if (next) next(end);
        };
        running.emplace(start(graph, watched));
        watch.begin(*running);
        companions.begin(*running);
        if (has_log()) log_start(running->report());
        report = running->wait();
        signals = watch.signals();
        last_signal = watch.last_signal();
    }
    const bool suspends = options.snapshots.on() && !options.snapshots.drain;
    const std::uint64_t bytes = session.bytes_done ? session.bytes_done() : report.bytes_read;
    const std::string_view how = how_it_ended(outcome, signals, suspends);
    if (has_log()) {
        log_end(report, bytes, how);
    } else if (!session.quiet) {
        terminal.say(summary(report, bytes, how));
    }
    const bool drained = outcome != Outcome::cancelled;
    if (metrics && drained) fill(*metrics, report.to_json() + '\n');
    if (session.when_done) session.when_done(report);
    if (picture && drained) {
        fill(*picture,
             picture_of(annotated(graph.description(options), report), session.picture_path));
    }
    if (signals == 0) return ExitCode::done;
    if (drained && session.zero_on_sigterm && last_signal == SIGTERM) return ExitCode::done;
    return ExitCode::signalled + last_signal;
}

int with_errors_reported(const std::function<int()>& body) noexcept {
    try {
        return body();
    } catch (const OperatorError& error) {
        if (stdout_is_closed() && is_input_output_error(error.cause())) {
            return ExitCode::closed_pipe;
        }
        return report_error(error, ExitCode::failed);
    } catch (const GraphError& error) {
        return report_error(error, ExitCode::usage);
    } catch (const InputOutputError& error) {
        return stdout_is_closed() ? ExitCode::closed_pipe : report_error(error, ExitCode::failed);
    } catch (const std::bad_alloc&) {
        return report_no_memory();
    } catch (const std::system_error& error) {
        return report_system_error(error);
    } catch (const std::exception& error) {
        return report_error(error, ExitCode::failed);
    } catch (...) {
        write_to_stderr("strid: error: an exception of an unknown type\n");
        return ExitCode::failed;
    }
}

void write_file(const std::string& path, std::string_view text) {
    Destination file(path, Writing::whole);
    file.open();
    fill(file, text);
}

}  // namespace strid
