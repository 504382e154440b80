// SPDX-License-Identifier: Apache-2.0
//
// Options that may change while a run goes on: `strid serve` reads its file again at a SIGHUP, and
// the parts of the run that take a new value have entered themselves here. The registry belongs to
// the process. Any thread.
//
// Invariant: all changes are prepared before one of them is made, so that a value that is of no use
// changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace strid::detail {

class Reloads {
  public:
    /// Puts a value that was prepared in place. Does not throw.
    using Change = std::function<void()>;
    /// Reads a value, and changes nothing yet. Throws GraphError or InputOutputError for one that
    /// is of no use, and for one that cannot take the place of the first.
    using Prepare = std::function<Change(const std::string& value)>;

    /// Its end waits for changes that are under way; behind it nothing that was added is called.
    class Entry {
      public:
        Entry() = default;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry();
        /// Enters `prepare` under a name, once: that of an option, or an address without its
        /// options.
        void add(std::string name, Prepare prepare);

      private:
        std::uint64_t number_ = 0;  // 0: nothing is entered
    };

    [[nodiscard]] static Reloads& of_process();

    /// Prepares a new value for all that have its name, for each of `values`, calls `then`, which
    /// may throw, and makes the changes. Returns the names that nothing has. Throws the first
    /// failure, and then nothing has changed.
    std::vector<std::string> change(const std::vector<std::pair<std::string, std::string>>& values,
                                    const std::function<void()>& then);

  private:
    std::mutex mutex_;
    // Under mutex_:
    std::map<std::uint64_t, std::pair<std::string, Prepare>> entries_;
    std::uint64_t last_ = 0;
};

}  // namespace strid::detail
