// SPDX-License-Identifier: Apache-2.0
//
// The programs of an exchange and how they are called: each works in the folder of its data and
// talks to the others over sockets there. Values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace strid::exchange {

struct ExchangeOptions {
    std::filesystem::path folder = "exchange-data";
    std::string listen = "127.0.0.1:7001";
    std::string journal = "journal.db";
    std::string sync = "full";
    std::string comp_id = "STRID";
    std::string symbols = {};
    std::string passwords = {};
    std::string tls_certificate = {};
    std::string tls_key = {};
    std::size_t clients_max = 20000;
    std::size_t workers = 1;
    bool quiet = false;
};

struct ProgramCall {
    std::string name;                    ///< core, session, data
    std::filesystem::path path;          ///< of the program
    std::vector<std::string> arguments;  ///< behind its name
};

/// In the order in which they are started. Throws InputOutputError where one is not installed.
[[nodiscard]] std::vector<ProgramCall> programs_of(const ExchangeOptions& options);

}  // namespace strid::exchange
