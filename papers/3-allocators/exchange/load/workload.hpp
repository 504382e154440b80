// SPDX-License-Identifier: Apache-2.0
//
// The requests that the clients of a run send (paper 3, section III.B). w1: each pair of sessions
// buys and sells the same quantities at the same prices at once. w2: each session trades by simple
// rules of a market: orders near the last price, some at any price, replaced to follow the price,
// cancelled; the arrivals of a trading day with a busy opening and close.
//
// The same seed gives the same requests in w1; in w2 as long as the answers come in the same order.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace strid::exchange::load {

enum class Kind : std::uint8_t { w1, w2 };

struct Request {
    char type = 'D';  ///< MsgType: D new, F cancel, G replace
    std::size_t symbol = 0;
    char side = '1';
    std::int64_t quantity = 0;
    std::int64_t price_cents = 0;  ///< 0: at any price
    std::string original = {};     ///< ClOrdID that is cancelled or replaced
};

/// Prices that all sessions see.
class Market {
  public:
    explicit Market(std::size_t symbols) : last_cents_(symbols) {
        for (std::size_t at = 0; at < symbols; ++at) {
            last_cents_[at] = 5'000 + static_cast<std::int64_t>(at % 10) * 1'000;
        }
    }
    [[nodiscard]] std::size_t symbols() const noexcept { return last_cents_.size(); }
    [[nodiscard]] std::int64_t last_cents(std::size_t symbol) const { return last_cents_[symbol]; }
    void traded(std::size_t symbol, std::int64_t cents) { last_cents_[symbol] = cents; }

  private:
    std::vector<std::int64_t> last_cents_;
};

/// The rules of one session.
class Trader {
  public:
    Trader(Kind kind, std::uint64_t seed, std::size_t session, Market& market);

    [[nodiscard]] Request next();
    /// An order stands in the book under this ClOrdID, or does not any more.
    void opened(const std::string& cl_ord_id, const Request& request);
    void closed(const std::string& cl_ord_id);

  private:
    struct Open {
        std::string cl_ord_id;
        Request request;
    };
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    [[nodiscard]] Request next_pair();
    [[nodiscard]] Request next_order();
    [[nodiscard]] Request change(char type);

    Kind kind_;
    char side_;
    Market& market_;
    std::mt19937_64 random_;
    std::vector<Open> open_;
    std::unordered_map<std::string, std::size_t> places_;  // in open_
};

/// When each of `count` requests is due, from 0 to `seconds`, ascending: a Poisson process whose
/// rate is that of a trading day, high at the opening, higher than at noon before the close.
[[nodiscard]] std::vector<std::int64_t> arrivals_ns(std::size_t count, double seconds,
                                                    std::uint64_t seed);

}  // namespace strid::exchange::load
