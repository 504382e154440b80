// SPDX-License-Identifier: Apache-2.0
//
// `strid exchange password`: sets the password of a user in a file of passwords.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace strid::exchange {

struct PasswordOptions {
    std::string user = {};
    std::string file = {};
    bool remove = false;
};

void add_password_options(CLI::App& command, PasswordOptions& options);

/// Reads the password from standard input: on a terminal it is asked for twice and not shown,
/// otherwise it is the first line. Throws InputOutputError.
int run_password(const PasswordOptions& options);

}  // namespace strid::exchange
