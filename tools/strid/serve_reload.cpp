// SPDX-License-Identifier: Apache-2.0
#include "serve_reload.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <exception>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/log.hpp>
#include <strid/engine/base/reloads.hpp>
#include <strid/engine/base/service_manager.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/http/secure.hpp>

namespace strid::tool {

namespace {

using Options = std::vector<ServeOption>;
using Values = std::vector<std::string>;

/// The descriptor from which SIGHUP is read. The run counts signals as orders to stop, but this one
/// does not come to its handler while it is blocked.
int hangups() {
    ::sigset_t hangup{};
    ::sigemptyset(&hangup);
    ::sigaddset(&hangup, SIGHUP);
    ::pthread_sigmask(SIG_BLOCK, &hangup, nullptr);
    return ::signalfd(-1, &hangup, SFD_CLOEXEC | SFD_NONBLOCK);
}

Values values_of(const Options& options, const std::string& name) {
    Values values;
    for (const ServeOption& option : options) {
        if (option.name == name) values.push_back(option.value.value_or(""));
    }
    return values;
}

std::string without_options(const std::string& address) {
    return address.substr(0, address.find('?'));
}

void set_values(Options& options, const std::string& name, const Options& from) {
    std::erase_if(options, [&](const ServeOption& one) { return one.name == name; });
    std::copy_if(from.begin(), from.end(), std::back_inserter(options),
                 [&](const ServeOption& one) { return one.name == name; });
}

/// Of inputs at the same addresses, in the same order; those at `unknown` ones stay. False: no
/// other has changed.
bool set_inputs(Options& options, const Options& from, const Values& unknown) {
    bool has_changed = false;
    const auto is_input = [](const ServeOption& one) { return one.name == "input"; };
    auto next = from.begin();
    for (ServeOption& option : options) {
        if (!is_input(option)) continue;
        next = std::find_if(next, from.end(), is_input);
        const auto& value = (next++)->value;
        const std::string address = without_options(value.value_or(""));
        if (value == option.value || std::ranges::find(unknown, address) != unknown.end()) continue;
        option.value = value;
        has_changed = true;
    }
    return has_changed;
}

/// The changes from one file to the next.
class Differences {
  public:
    Differences(const Options& before, const Options& after) {
        std::set<std::string> names;
        for (const ServeOption& option : before) names.insert(option.name);
        for (const ServeOption& option : after) names.insert(option.name);
        for (const std::string& name : names) {
            const Values was = values_of(before, name);
            const Values is = values_of(after, name);
            if (was != is) add(name, was, is);
        }
    }

    std::vector<std::pair<std::string, std::string>> values;  // for the parts of the run
    std::set<std::string> taken;                              // options
    std::set<std::string> kept;                               // that may not change

  private:
    void add(const std::string& name, const Values& was, const Values& is) {
        const bool can_change = name == "log" || (was.size() == is.size() && can(name, was, is));
        (can_change ? taken : kept).insert(name);
    }
    [[nodiscard]] bool can(const std::string& name, const Values& was, const Values& is) {
        if (name == "metrics-every") {
            values.emplace_back(name, is.back());
            return true;
        }
        if (name != "input") return false;
        for (std::size_t i = 0; i != is.size(); ++i) {
            if (without_options(was[i]) != without_options(is[i])) return false;
        }
        for (std::size_t i = 0; i != is.size(); ++i) {
            if (was[i] != is[i]) values.emplace_back(without_options(is[i]), is[i]);
        }
        return true;
    }
};

}  // namespace

ServeReload::ServeReload(std::string path, Options options,
                         std::function<bool(const Options&)> is_command_line)
    : path_(std::move(path)),
      is_command_line_(std::move(is_command_line)),
      signals_(hangups()),
      ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      options_(std::move(options)) {
    if (signals_.get() < 0 || ending_.get() < 0) {
        throw InputOutputError("SIGHUP: " + std::generic_category().message(errno));
    }
}

void ServeReload::begin(Running& /*running*/) {
    thread_ = std::thread([this] { follow(); });
}

void ServeReload::end() noexcept {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    (void)!::write(ending_.get(), &one, sizeof one);
    thread_.join();
}

void ServeReload::follow() {
    strid::detail::name_this_thread("strid-reload");
    for (;;) {
        std::array<::pollfd, 2> waited{{{signals_.get(), POLLIN, 0}, {ending_.get(), POLLIN, 0}}};
        if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
        if (waited[1].revents != 0) return;
        ::signalfd_siginfo signal{};
        while (::read(signals_.get(), &signal, sizeof signal) > 0) reload();
    }
}

void ServeReload::reload() noexcept {
    const std::string manager = strid::detail::service_socket();
    ::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    try {
        if (!manager.empty()) {
            strid::detail::send_to_service_manager(
                manager, fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                                     now.tv_sec * 1'000'000 + now.tv_nsec / 1'000));
        }
        change();
    } catch (const std::exception& error) {
        write_to_stderr(fmt::format(
            "strid: error: {}: nothing was changed, and the run goes on as before: {}\n", path_,
            error.what()));
    }
    if (!manager.empty())
        strid::detail::send_to_service_manager(manager, "READY=1\nSTATUS=running");
}

void ServeReload::change() {
    const Options options = read_serve_options(path_);
    if (!is_command_line_(options)) throw GraphError("its options make no sense");
    Differences found(options_, options);
    const Values logs = values_of(options, "log");
    std::size_t servers = 0;
    const auto unknown = strid::detail::Reloads::of_process().change(
        found.values, [&servers] { servers = http::reload_tls(); });
    // A figure that nothing takes, or inputs without such options: of several some may have
    // changed.
    for (const std::string& name : unknown) {
        const bool is_input = name != "metrics-every";
        found.kept.insert(is_input ? "input" : name);
        if (!is_input) found.taken.erase(name);
    }
    if (found.taken.contains("log")) {
        set_log(!logs.empty() && logs.back() == "json" ? json_log() : nullptr);
    }
    if (found.taken.contains("input") && !set_inputs(options_, options, unknown)) {
        found.taken.erase("input");
    }
    for (const std::string& name : found.taken) {
        if (name != "input") set_values(options_, name, options);
    }
    if (!found.kept.empty()) {
        write_to_stderr(fmt::format(
            "strid: warning: {}: {} cannot change while the run goes on; the next start takes it\n",
            path_, fmt::join(found.kept, ", ")));
    }
    std::string text = fmt::format("strid: {} was read again", path_);
    if (!found.taken.empty()) text += fmt::format("; changed: {}", fmt::join(found.taken, ", "));
    if (servers != 0) text += fmt::format("; certificates of {} servers were read", servers);
    write_to_stderr(text + '\n');
}

}  // namespace strid::tool
