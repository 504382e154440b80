// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <exception>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <strid/graph/picture.hpp>
#include <strid/graph/session.hpp>

#include "progress.hpp"
#include "signals.hpp"

namespace strid {

namespace {

constexpr std::chrono::milliseconds progress_period{200};

/// Follows a run from a thread of its own, from before it is started: passes signals on, and shows
/// how far it is.
class Watch {
  public:
    Watch(const SessionOptions& options, Terminal& terminal)
        : options_(options), terminal_(terminal), thread_([this] { follow(); }) {}
    ~Watch() {
        ended_.store(true, std::memory_order_relaxed);
        signals_.wake();
        thread_.join();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    [[nodiscard]] const SignalScope& signals() const noexcept { return signals_; }
    /// Ends the start of the run at the first signal.
    [[nodiscard]] std::stop_token stop_opening() const noexcept { return opening_.get_token(); }
    /// The run is on.
    void begin(Running& running) {
        running_.store(&running, std::memory_order_release);  // pairs with the acquire in follow()
        signals_.wake();
    }

  private:
    void follow() {
        const bool shows = terminal_.interactive() && !options_.quiet;
        RunReport before;
        std::uint64_t bytes_before = 0;
        while (!ended_.load(std::memory_order_relaxed)) {
            signals_.wait_for(progress_period);
            Running* const running = running_.load(std::memory_order_acquire);  // see begin()
            pass_signals_on(running);
            if (!shows || running == nullptr || ended_.load(std::memory_order_relaxed)) continue;
            RunReport now = running->report();
            if (now.seconds - before.seconds < 0.1) continue;  // a signal came: too short a time
            const std::uint64_t bytes =
                options_.bytes_done ? options_.bytes_done() : now.bytes_read;
            const double rate =
                static_cast<double>(bytes - bytes_before) / (now.seconds - before.seconds);
            terminal_.show(progress_line(before, now, rate));
            before = std::move(now);
            bytes_before = bytes;
        }
    }

    void pass_signals_on(Running* running) {
        const int count = signals_.count();
        if (count > 0 && !opening_.stop_requested()) {
            opening_.request_stop();
            if (terminal_.interactive()) terminal_.say("\nstopping; Ctrl-C again to cancel\n");
        }
        // A third one ends a process that is stuck in the kernel.
        if (count > 1) signals_.restore();
        if (running == nullptr) return;
        if (count > 0 && !std::exchange(stopped_, true)) running->stop();
        if (count > 1 && !std::exchange(cancelled_, true)) running->cancel();
    }

    const SessionOptions& options_;
    Terminal& terminal_;
    SignalScope signals_;
    std::stop_source opening_;
    std::atomic<Running*> running_{nullptr};
    std::atomic<bool> ended_{false};  // relaxed: the semaphore of signals_ wakes who reads it
    bool stopped_ = false;            // the run was told
    bool cancelled_ = false;
    std::thread thread_;  // last: it uses the rest
};

RunOptions with_watchdog_told(const RunOptions& options, Terminal& terminal) {
    RunOptions result = options;
    if (options.watchdog.count() == 0 || options.on_stalled) return result;
    result.on_stalled = [&terminal, period = options.watchdog](const auto& names) {
        terminal.say(fmt::format("strid: no progress for {:.3g} s: {}\n",
                                 std::chrono::duration<double>(period).count(),
                                 fmt::join(names, ", ")));
    };
    return result;
}

std::string_view how_it_ended(int signals) noexcept {
    return signals == 0 ? "done" : signals == 1 ? "stopped and drained" : "cancelled";
}

/// True where standard output is a pipe that nobody reads any more.
bool stdout_is_closed() noexcept {
    pollfd asked{STDOUT_FILENO, 0, 0};
    return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLERR) != 0;
}

int told(const std::exception& error, int code) noexcept {
    try {
        write_to_stderr(fmt::format("strid: error: {}\n", error.what()));
    } catch (...) {
        write_to_stderr("strid: error: out of memory\n");
    }
    return code;
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

bool write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (written < 0 && errno == EAGAIN) {
            pollfd waited{descriptor, POLLOUT, 0};
            ::poll(&waited, 1, -1);
        } else if (written == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

}  // namespace

int run_session(const Graph& graph, const RunOptions& options, const SessionOptions& session) {
    if (!session.picture_path.empty()) draw(graph.description(options), session.picture_path);
    Terminal terminal;
    RunReport report;
    int signals = 0;
    int last_signal = 0;
    {
        std::optional<Running> running;  // outlives who watches it
        Watch watch(session, terminal);
        RunOptions watched = with_watchdog_told(options, terminal);
        watched.stop_opening = watch.stop_opening();
        running.emplace(start(graph, watched));
        watch.begin(*running);
        report = running->wait();
        signals = watch.signals().count();
        last_signal = watch.signals().last();
    }
    if (!session.quiet) {
        const std::uint64_t bytes = session.bytes_done ? session.bytes_done() : report.bytes_read;
        terminal.say(summary(report, bytes, how_it_ended(signals)));
    }
    if (!session.metrics_path.empty()) write_file(session.metrics_path, report.to_json() + '\n');
    if (session.when_done) session.when_done(report);
    if (!session.picture_path.empty()) {
        draw(annotated(graph.description(options), report), session.picture_path);
    }
    return signals == 0 ? ExitCode::done : ExitCode::signalled + last_signal;
}

int with_errors_told(const std::function<int()>& body) noexcept {
    try {
        return body();
    } catch (const OperatorError& error) {
        if (stdout_is_closed() && is_input_output_error(error.cause())) {
            return ExitCode::closed_pipe;
        }
        return told(error, ExitCode::failed);
    } catch (const GraphError& error) {
        return told(error, ExitCode::usage);
    } catch (const InputOutputError& error) {
        return stdout_is_closed() ? ExitCode::closed_pipe : told(error, ExitCode::failed);
    } catch (const std::bad_alloc&) {
        write_to_stderr("strid: error: out of memory\n");
        return ExitCode::failed;
    } catch (const std::exception& error) {
        return told(error, ExitCode::failed);
    } catch (...) {
        write_to_stderr("strid: error: an exception of a type that nobody knows\n");
        return ExitCode::failed;
    }
}

void write_to_stderr(std::string_view text) noexcept {
    write_all(STDERR_FILENO, text);
}

void write_to_stdout(std::string_view text) {
    if (write_all(STDOUT_FILENO, text)) return;
    throw InputOutputError("standard output: cannot write: " +
                           std::generic_category().message(errno));
}

void write_file(const std::string& path, std::string_view text) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool written = descriptor >= 0 && write_all(descriptor, text);
    int error = written ? 0 : errno;
    if (descriptor >= 0 && ::close(descriptor) != 0 && error == 0) error = errno;
    if (error != 0) {
        throw InputOutputError(path + ": cannot write: " + std::generic_category().message(error));
    }
}

}  // namespace strid
