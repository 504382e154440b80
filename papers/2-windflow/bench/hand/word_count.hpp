// SPDX-License-Identifier: Apache-2.0
//
// Word count by hand: one thread, one table, no engine. The record is a line in memory. Words are
// kept as views into the input, which outlives the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "bench/hand/replay.hpp"
#include "bench/hand/text_key.hpp"

namespace strid::bench::hand {

struct WordCountInput {
    std::string text;
    std::vector<std::string_view> lines;  // views into text

    explicit WordCountInput(const std::string& path)
        : text(read_file(path)), lines(split_lines(text)) {}
    WordCountInput(const WordCountInput&) = delete;
    WordCountInput& operator=(const WordCountInput&) = delete;
};

struct WordUpdate {
    std::string_view word;
    std::uint64_t count;
};

class WordCounter {
  public:
    /// Counts the words of a line; update(word, count so far) is called for each of them.
    template <class Update>
    void count(std::string_view line, Update&& update) {
        const char* at = line.data();
        const char* const end = at + line.size();
        while (at != end) {
            const auto left = static_cast<std::size_t>(end - at);
            const char* space = static_cast<const char*>(std::memchr(at, ' ', left));
            if (space == nullptr) space = end;
            if (space != at) {
                const std::string_view word(at, static_cast<std::size_t>(space - at));
                update(WordUpdate{word, ++counts_[word]});
            }
            at = space == end ? end : space + 1;
        }
    }

    const auto& counts() const noexcept { return counts_; }

  private:
    boost::unordered_flat_map<std::string_view, std::uint64_t, TextHash, TextEqual> counts_;
};

struct WordCountResult : ReplayResult {
    std::uint64_t bytes = 0;  // of lines, with their ends
    std::uint64_t words = 0;
    std::uint64_t checksum = 0;  // updates: their counts summed

    [[nodiscard]] double megabytes_per_second() const {
        return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0;
    }
};

/// Counts only; the answer is the table at the end.
inline WordCountResult run_word_count(const WordCountInput& input,
                                      std::chrono::nanoseconds duration) {
    WordCounter counter;
    WordCountResult result;
    static_cast<ReplayResult&>(result) = replay(input.lines, duration, [&](std::string_view line) {
        result.bytes += line.size() + 1;
        counter.count(line, [](const WordUpdate&) {});
    });
    for (const auto& [word, count] : counter.counts()) result.words += count;
    keep_alive(counter);
    return result;
}

/// Hands an update record to a sink for every word, as the peers' versions do.
inline WordCountResult run_word_count_updates(const WordCountInput& input,
                                              std::chrono::nanoseconds duration) {
    WordCounter counter;
    WordCountResult result;
    static_cast<ReplayResult&>(result) = replay(input.lines, duration, [&](std::string_view line) {
        result.bytes += line.size() + 1;
        counter.count(line, [&](const WordUpdate& update) {
            keep_alive(update);  // the record is in memory, where any reader could find it
            ++result.words;
            result.checksum += update.count;
        });
    });
    return result;
}

}  // namespace strid::bench::hand
