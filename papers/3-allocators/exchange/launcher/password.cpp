// SPDX-License-Identifier: Apache-2.0
#include "launcher/password.hpp"

#include <iostream>

#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "access/passwords.hpp"

namespace strid::exchange {

namespace {

/// A password that is typed is not shown.
std::string typed(const char* prompt) {
    const char* const password = ::getpass(prompt);
    if (password == nullptr) throw InputOutputError("there is no terminal to ask for the password");
    return password;
}

std::string read_password() {
    if (::isatty(STDIN_FILENO) != 0) {
        const std::string password = typed("Password: ");
        if (typed("Once more: ") == password) return password;
        throw InputOutputError("the two passwords are not the same");
    }
    std::string line;
    if (std::getline(std::cin, line)) return line;
    throw InputOutputError("there is no password on standard input");
}

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
    const std::string password = read_password();
    set_password(options.file, options.user, &password);
    return ExitCode::done;
}

}  // namespace strid::exchange
