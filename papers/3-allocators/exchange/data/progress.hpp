// SPDX-License-Identifier: Apache-2.0
//
// How far the data manager is: what its threads report to each other. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace strid::exchange {

/// Every store of the committer is with release, after the transaction; loads of the other threads
/// acquire: what they read in the journal then is at least as new.
struct Progress {
    std::atomic<std::uint64_t> last_report{0};      ///< durable
    std::atomic<std::uint64_t> deleted_reports{0};  ///< up to this one they are gone
    /// The session manager has stored the reports up to this one. Written by the link.
    std::atomic<std::uint64_t> acknowledged{0};
};

}  // namespace strid::exchange
