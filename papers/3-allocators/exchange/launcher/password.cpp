// SPDX-License-Identifier: Apache-2.0
#include "launcher/password.hpp"

#include <iostream>

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "access/passwords.hpp"

namespace strid::exchange {

namespace {

/// Letters that are typed while it lives are not shown.
class SilentTerminal {
  public:
    SilentTerminal() {
        is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
        if (!is_terminal_) return;
        termios silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    ~SilentTerminal() {
        if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    }
    SilentTerminal(const SilentTerminal&) = delete;
    SilentTerminal& operator=(const SilentTerminal&) = delete;

    [[nodiscard]] std::string read(const char* prompt) const {
        if (is_terminal_) std::cerr << prompt << ": " << std::flush;
        std::string line;
        const bool is_there = static_cast<bool>(std::getline(std::cin, line));
        if (is_terminal_) std::cerr << '\n';
        if (!is_there) throw InputOutputError("there is no password on standard input");
        return line;
    }
    [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }

  private:
    bool is_terminal_ = false;
    termios before_{};
};

}  // namespace

void add_password_options(CLI::App& command, PasswordOptions& options) {
    command.add_option("user", options.user, "SenderCompID (49) of the user")->required();
    command.add_option("--passwords", options.file, "file of passwords; made if it is not there")
        ->required();
    command.add_flag("--remove", options.remove, "take the user out of the file");
}

int run_password(const PasswordOptions& options) {
    ::umask(077);
    if (options.remove) {
        set_password(options.file, options.user, nullptr);
        return ExitCode::done;
    }
    const SilentTerminal terminal;
    const std::string password = terminal.read("Password");
    if (terminal.is_terminal() && terminal.read("Once more") != password) {
        throw InputOutputError("the two passwords are not the same");
    }
    set_password(options.file, options.user, &password);
    return ExitCode::done;
}

}  // namespace strid::exchange
