// SPDX-License-Identifier: Apache-2.0
//
// Posts bodies to a server, by libcurl. Threads: one at a time, but for interrupt().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include <strid/connector/transport.hpp>

namespace strid::webhook {

/// A server, of an address whose other options were taken.
struct Place {
    /// Reads the environment. Throws GraphError.
    explicit Place(TransportAddress& from);

    std::string address;  // for messages
    std::string url;
    std::uint64_t rows_max;
    std::chrono::milliseconds within;
    std::string certificates;   // empty: those of the system
    std::string authorization;  // empty: none
};

class Client {
  public:
    /// Connects to nothing.
    Client(const Place& place, std::string_view content_type);

    /// Returns when the server has taken the body. Throws ConnectionLost where it may be posted
    /// again, InputOutputError where the server refuses it.
    void post(std::string_view body, std::string_view key);
    /// Waits until the server may be asked again: as it has said, a minute at most. Throws
    /// ConnectionLost where it is interrupted.
    void wait_for_server() { wait_until(retry_at_); }
    /// The same for a time of the caller's.
    void wait_until(std::chrono::steady_clock::time_point until);
    void close() noexcept { curl_.reset(); }

    /// Ends a call that waits, which throws then, and all later ones. Any thread.
    void interrupt() noexcept;
    [[nodiscard]] bool is_interrupted() const noexcept {
        return is_interrupted_.load(std::memory_order_relaxed);  // orders nothing
    }

  private:
    struct EndsCurl {
        void operator()(::CURL* curl) const noexcept { ::curl_easy_cleanup(curl); }
    };
    struct EndsList {
        void operator()(::curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
    };
    using Headers = std::unique_ptr<::curl_slist, EndsList>;

    void open();
    [[nodiscard]] Headers headers(std::string_view key) const;
    void check(::CURLcode code) const;
    void check_answer();

    const Place place_;
    const std::string content_type_;
    std::unique_ptr<::CURL, EndsCurl> curl_;  // null: closed
    std::string answer_;                      // its beginning
    std::chrono::steady_clock::time_point retry_at_{};
    std::atomic<bool> is_interrupted_{false};
    std::mutex mutex_;
    std::condition_variable interrupted_;
};

}  // namespace strid::webhook
