// SPDX-License-Identifier: Apache-2.0
//
// Fraud detection by hand: one thread, one table of accounts, no engine. The record holds account
// and transaction as text, as the input has them, and the state as its index in the model. The
// score is the miss probability.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "bench/hand/replay.hpp"
#include "bench/hand/text_key.hpp"

namespace strid::bench::hand {

class MarkovModel {
  public:
    explicit MarkovModel(const std::string& path) {
        const std::string text = read_file(path);
        const std::vector<std::string_view> lines = split_lines(text);
        if (lines.empty()) throw std::runtime_error(path + " is empty");
        for (std::string_view rest = lines[0]; !rest.empty();)
            names_.emplace_back(next_field(rest));
        if (lines.size() != names_.size() + 1)
            throw std::runtime_error(path + ": a row is missing");
        for (std::size_t before = 0; before < names_.size(); ++before) {
            std::string_view rest = lines[before + 1];
            std::vector<double> row;
            while (!rest.empty()) row.push_back(parse_number<double>(next_field(rest)));
            if (row.size() != names_.size()) throw std::runtime_error(path + ": a cell is missing");
            for (std::size_t came = 0; came < row.size(); ++came) {
                double missed = 0;
                for (std::size_t other = 0; other < row.size(); ++other) {
                    if (other != came) missed += row[other];
                }
                missed_.push_back(missed);
            }
        }
    }

    std::uint8_t index_of(std::string_view name) const {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (names_[i] == name) return static_cast<std::uint8_t>(i);
        }
        throw std::runtime_error("unknown state " + std::string(name));
    }

    /// The probability mass of all states but the one that came.
    double missed(std::uint8_t before, std::uint8_t came) const noexcept {
        return missed_[before * names_.size() + came];
    }

  private:
    std::vector<std::string> names_;
    std::vector<double> missed_;  // by state before, then by state that came
};

struct Transaction {
    std::string_view account;
    std::string_view transaction;
    std::uint8_t state;
};

struct Outlier {
    std::string_view account;
    std::string_view transaction;
    double score;
};

struct FraudDetectionInput {
    std::string text;
    std::vector<Transaction> transactions;  // views into text

    FraudDetectionInput(const std::string& path, const MarkovModel& model) : text(read_file(path)) {
        for (std::string_view line : split_lines(text)) {
            const std::string_view account = next_field(line);
            const std::string_view transaction = next_field(line);
            transactions.push_back({account, transaction, model.index_of(line)});
        }
    }
    FraudDetectionInput(const FraudDetectionInput&) = delete;
    FraudDetectionInput& operator=(const FraudDetectionInput&) = delete;
};

class FraudDetector {
  public:
    explicit FraudDetector(const MarkovModel& model, double threshold = 0.96)
        : model_(model), threshold_(threshold) {}

    /// Takes a record in; outlier(Outlier) is called if it ends an unlikely sequence.
    template <class Report>
    void add(const Transaction& record, Report&& outlier) {
        Account& account = accounts_[record.account];
        if (account.records > 0) {
            account.missed[account.next] = model_.missed(account.last, record.state);
            account.next = (account.next + 1) % transitions;
        }
        account.last = record.state;
        if (account.records < transitions) {
            ++account.records;
            return;
        }
        double sum = 0;
        for (const double missed : account.missed) sum += missed;
        const double score = sum / transitions;
        if (score > threshold_) outlier(Outlier{record.account, record.transaction, score});
    }

  private:
    static constexpr std::uint32_t transitions = 4;  // between 5 records

    struct Account {
        std::array<double, transitions> missed{};  // of the last transitions, in a ring
        std::uint32_t records = 0;                 // before this one, at most 4
        std::uint8_t next = 0;
        std::uint8_t last = 0;
    };

    const MarkovModel& model_;
    double threshold_;
    boost::unordered_flat_map<std::string_view, Account, TextHash, TextEqual> accounts_;
};

struct FraudDetectionResult : ReplayResult {
    std::uint64_t outliers = 0;
    double checksum = 0;  // scores of the outliers summed
};

inline FraudDetectionResult run_fraud_detection(const FraudDetectionInput& input,
                                                const MarkovModel& model,
                                                std::chrono::nanoseconds duration) {
    FraudDetector detector(model);
    FraudDetectionResult result;
    static_cast<ReplayResult&>(result) =
        replay(input.transactions, duration, [&](const Transaction& record) {
            detector.add(record, [&](const Outlier& outlier) {
                keep_alive(outlier);
                ++result.outliers;
                result.checksum += outlier.score;
            });
        });
    return result;
}

}  // namespace strid::bench::hand
