// SPDX-License-Identifier: Apache-2.0
//
// A run of `strid serve` reads its file again at SIGHUP, and takes what may change while it goes
// on: options of an input that listens, certificates, the log, the time between figures. Owns a
// thread from begin() to end().
//
// Invariant: a file that is wrong changes nothing.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <strid/engine/http/listener.hpp>
#include <strid/program/companion.hpp>

#include "serve_options.hpp"

namespace strid::tool {

class ServeReload final : public Companion {
  public:
    /// From now on SIGHUP waits in threads of the process that are made behind it, this one among
    /// them, until the run reads it. `is_command_line` says on standard error why it is none.
    /// Throws InputOutputError.
    ServeReload(std::string path, std::vector<ServeOption> options,
                std::function<bool(const std::vector<ServeOption>&)> is_command_line);
    ~ServeReload() override { end(); }

    void prepare(const CompanionContext& /*context*/) override {}
    void begin(Running& running) override;
    void end() noexcept override;

  private:
    using Options = std::vector<ServeOption>;

    void follow();
    void reload() noexcept;
    void change();

    const std::string path_;
    const std::function<bool(const Options&)> is_command_line_;
    const http::Descriptor signals_;
    const http::Descriptor ending_;
    Options options_;  // that are in use; of the thread
    std::thread thread_;
};

}  // namespace strid::tool
