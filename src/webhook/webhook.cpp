// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>
#include <strid/webhook/webhook.hpp>

#include "client.hpp"

namespace strid {

namespace webhook {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t body_bytes_max = std::size_t{1} << 20;
constexpr std::chrono::milliseconds retry_first{100};
constexpr std::chrono::milliseconds retry_most{5'000};
/// Without snapshots a body is tried for so long.
constexpr std::chrono::seconds patience{60};

/// A name for the keys of a run without snapshots.
std::string random_stream() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

std::string_view type_of(const TransportAddress& address) {
    const auto is_json = [](const auto& option) {
        return option.first == "format" && option.second == "json";
    };
    const auto& options = address.left();
    return std::any_of(options.begin(), options.end(), is_json) ? "application/x-ndjson"
                                                                : "text/csv";
}

/// Rows as bodies. Those of an epoch are cut in the same way each time that they are posted.
class PostedRows final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit PostedRows(TransportAddress address)
        : content_type_(type_of(address)),
          rows_(without_key(address)),
          place_(address),
          client_(place_, content_type_),
          stream_(random_stream()) {}

    void open(const std::vector<std::string>& columns) override {
        rows_.set_columns(columns);
        client_.wait_for_server();
    }
    void write(std::string_view rows) override {
        if (by_epoch_) {
            epoch_rows_ += rows;
        } else {
            add(rows);
        }
    }
    void commit() override {
        post_rest();
        begin(number_ + 1);
    }
    /// Posts only the bodies that were not taken before the connection was lost.
    void commit(const Epoch& epoch) override {
        if (!by_epoch_) return commit();
        if (epoch.number != number_ || epoch.stream != stream_) posted_ = 0;
        stream_ = epoch.stream;
        begin(epoch.number);
        add(epoch_rows_);
        post_rest();
        posted_ = 0;
        epoch_rows_.clear();
    }
    /// A server keeps no number: after a kill bodies come again, with their keys.
    [[nodiscard]] bool keeps_epochs() const noexcept override { return false; }
    /// Asked of a run that takes snapshots.
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override {
        by_epoch_ = true;
        stream_ = stream;
        return 0;
    }
    void close() noexcept override {
        epoch_rows_.clear();
        client_.close();
    }
    void interrupt() noexcept override { client_.interrupt(); }

  private:
    static TransportAddress& without_key(TransportAddress& address) {
        if (!address.take("key").empty()) address.refuse("key is for messages");
        return address;
    }

    void begin(std::uint64_t number) {
        number_ = number;
        part_ = 0;
        body_.clear();
        body_rows_ = 0;
    }
    void add(std::string_view rows) {
        rows_.for_each(rows, [this](const auto& message) {
            const bool is_full = body_rows_ == place_.rows_max ||
                                 body_.size() + message.payload.size() >= body_bytes_max;
            if (is_full) post_rest();
            (body_ += message.payload) += '\n';
            ++body_rows_;
        });
    }
    void post_rest() {
        if (body_.empty()) return;
        if (!by_epoch_) {
            post_patiently();
        } else if (part_ >= posted_) {
            client_.post(body_, key());
            posted_ = part_ + 1;
        }
        ++part_;
        body_.clear();
        body_rows_ = 0;
    }
    /// A run without snapshots does not connect again.
    void post_patiently() {
        const auto end = Clock::now() + patience;
        for (auto wait = retry_first;; wait = std::min(wait * 2, retry_most)) {
            try {
                return client_.post(body_, key());
            } catch (const ConnectionLost&) {
                if (client_.is_interrupted() || Clock::now() + wait > end) throw;
            }
            client_.wait_until(Clock::now() + wait);
            client_.wait_for_server();
        }
    }
    [[nodiscard]] std::string key() const {
        return fmt::format("{}-{}-{}", stream_, number_, part_);
    }

    const std::string content_type_;
    detail::MessageRows rows_;
    const Place place_;
    Client client_;
    std::string stream_;
    bool by_epoch_ = false;
    std::string epoch_rows_;    // of the epoch that is to be committed
    std::uint64_t number_ = 1;  // of the epoch, or of the pause that ends the rows
    std::uint64_t part_ = 0;    // of it, which the body is
    std::uint64_t posted_ = 0;  // parts of the epoch that were taken
    std::string body_;
    std::uint64_t body_rows_ = 0;
};

std::unique_ptr<TransportOutput> posted_rows(TransportAddress address) {
    return std::make_unique<PostedRows>(std::move(address));
}

}  // namespace

}  // namespace webhook

void use_webhook() {
    add_transport({.scheme = "http", .output = &webhook::posted_rows});
    add_transport({.scheme = "https", .output = &webhook::posted_rows});
}

}  // namespace strid
