// SPDX-License-Identifier: Apache-2.0
//
// Lines on standard error with the time and the name of the program. Any thread; a line is written
// whole.
#pragma once

#include <string>
#include <string_view>

namespace strid::exchange {

class Log {
  public:
    explicit Log(std::string name, bool quiet = false) : name_(std::move(name)), quiet_(quiet) {}
    void say(std::string_view text) const;

  private:
    std::string name_;
    bool quiet_;
};

}  // namespace strid::exchange
