// SPDX-License-Identifier: Apache-2.0
//
// The parts that rows are written to at the same time, one for each folder of a partition, and
// those that are whole. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/transport.hpp>

#include "part.hpp"

namespace strid::parquet {

struct PartLimits {
    std::uint64_t rows = 0;  ///< Of a part; 0: any number.
    std::uint64_t bytes = 0;
    std::chrono::milliseconds age{0};
};

class PartSet {
  public:
    using Clock = std::chrono::steady_clock;
    /// Gives a path for a part that begins.
    using NewPath = std::function<std::string()>;
    /// Takes a part that is whole: its path, and the folder that it belongs to.
    using Take = std::function<void(const std::string& path, const std::string& folder)>;

    PartSet(PartLimits limits, NewPath new_path, Take take)
        : limits_(limits), new_path_(std::move(new_path)), take_(std::move(take)) {}

    /// Throws as Part does, as all others do.
    void append(const std::shared_ptr<const PartForm>& form, const std::string& folder,
                const std::vector<FieldText>& fields);
    void finish_all();
    /// Behind a failure: those that can be written. The others are removed.
    void finish_usable() noexcept;
    /// Those that have lasted so long as a part may.
    void finish_old(Clock::time_point now);
    /// Removes those that are not whole.
    void forget() noexcept;
    [[nodiscard]] bool is_empty() const noexcept { return open_.empty(); }

  private:
    struct Open {
        std::unique_ptr<Part> part;
        Clock::time_point begun;
    };
    using Opened = std::map<std::string, Open, std::less<>>;  // by folder
    Opened::iterator finish(Opened::iterator at);
    void make_room();

    const PartLimits limits_;
    const NewPath new_path_;
    const Take take_;
    Opened open_;
    std::uint64_t appended_ = 0;  // rows
};

}  // namespace strid::parquet
