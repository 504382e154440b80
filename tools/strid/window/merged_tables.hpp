// SPDX-License-Identifier: Apache-2.0
//
// The rows of `strid window`: of one input, of several behind each other, or of several merged by
// time. Merging reads a few rows of each input ahead and takes the earliest of the first ones,
// where several are as early that of the input named first; so inputs that are each in order of
// time give what one sorted input gives. An input that falls silent holds back the others: its next
// row may be the earliest.
//
// Threads and replicas as in FileSource.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/connector/dead_letter_file.hpp>
#include <strid/memory/text_arena.hpp>

#include "table_source.hpp"

namespace strid::tool {

/// Rows that were read ahead, and the chunks of text that they point into. The emitter of a source.
template <class Row>
class RowsAhead {
  public:
    bool operator()(Row&& row) {
        rows_.push_back({row, texts_.size() - 1});
        return true;
    }
    void keep_alive(const memory::TextReference& text) {
        if (texts_.empty() || texts_.back() != text) texts_.push_back(text);
    }
    void ingress_at(std::int64_t /*ns*/) noexcept {}
    void count_malformed(std::uint64_t count) noexcept { malformed_ += count; }

    [[nodiscard]] bool empty() const noexcept { return next_ == rows_.size(); }
    [[nodiscard]] const Row& front() const noexcept { return rows_[next_].row; }
    [[nodiscard]] const memory::TextReference& text() const noexcept {
        return texts_[rows_[next_].text];
    }
    void pop() noexcept { ++next_; }
    /// Once empty.
    void forget() noexcept {
        rows_.clear();
        texts_.clear();
        next_ = 0;
    }
    [[nodiscard]] std::uint64_t take_malformed() noexcept { return std::exchange(malformed_, 0); }

  private:
    struct Ahead {
        Row row;
        std::size_t text;
    };
    std::vector<Ahead> rows_;
    std::vector<memory::TextReference> texts_;
    std::size_t next_ = 0;
    std::uint64_t malformed_ = 0;
};

template <class Table>
class MergedTables {
  public:
    using record_type = TableRow<Table>;
    static constexpr SourceTraits traits{.hears = events<Opened, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::files |
                                                Has::fraction_done | Has::bytes_read |
                                                Has::replicas_used,
                                         .drains = true};

    explicit MergedTables(const WindowJob& job) {
        if (!job.merge_inputs) {
            inputs_.emplace_back(job);
            return;
        }
        WindowJob one = job;
        if (!job.csv.dead_letter_path.empty()) {  // one file for all
            one.csv.dead_letter = DeadLetterFile(job.csv.dead_letter_path, job.csv.dead_letters);
            one.csv.dead_letter_path.clear();
        }
        for (const std::string& path : job.inputs) {
            one.inputs = {path};
            inputs_.emplace_back(one);
        }
    }

    void on(const Opened& opened) {
        awaited_ = 0;
        for (Input& input : inputs_) {
            input.ahead.forget();
            input.is_finished = false;
            input.source.on(opened);
        }
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (inputs_.size() == 1) return inputs_.front().source.poll(emit, budget);
        const memory::TextChunk* text = nullptr;
        for (;; --budget) {
            const SourceStatus status = read_ahead(emit);
            if (status != SourceStatus::more || budget == 0) return status;
            Input* earliest = nullptr;
            for (Input& input : inputs_) {
                if (input.ahead.empty()) continue;
                if (earliest == nullptr || input.ahead.front().time < earliest->ahead.front().time)
                    earliest = &input;
            }
            RowsAhead<record_type>& ahead = earliest->ahead;
            if (text != ahead.text().get()) emit.keep_alive(ahead.text());
            text = ahead.text().get();
            record_type row = ahead.front();
            ahead.pop();
            if (!emit(std::move(row))) return SourceStatus::more;
        }
    }

    void on(Stopped stopped) noexcept {
        for (Input& input : inputs_) input.source.on(stopped);
    }
    [[nodiscard]] bool blocks() const noexcept {
        return std::any_of(inputs_.begin(), inputs_.end(),
                           [](const Input& input) { return input.source.blocks(); });
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return inputs_[awaited_].source.wake_at_ns();
    }
    [[nodiscard]] double fraction_done() const noexcept {
        double sum = 0;
        for (const Input& input : inputs_) {
            const double fraction = input.source.fraction_done();
            if (fraction < 0) return fraction;
            sum += fraction;
        }
        return sum / static_cast<double>(inputs_.size());
    }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        std::uint64_t sum = 0;
        for (const Input& input : inputs_) sum += input.source.bytes_read();
        return sum;
    }
    /// Each is read once; where dead letters go is the same of all.
    [[nodiscard]] std::vector<FileUse> files() const {
        std::vector<FileUse> files = inputs_.front().source.files();
        for (std::size_t i = 1; i < inputs_.size(); ++i) {
            for (FileUse& file : inputs_[i].source.files()) {
                if (file.kind == FileUse::Kind::reads) files.push_back(std::move(file));
            }
        }
        return files;
    }
    [[nodiscard]] std::size_t replicas_used(std::size_t /*parallelism*/) const noexcept {
        return 1;
    }
    auto state() { return std::tie(awaited_); }

  private:
    struct Input {
        explicit Input(const WindowJob& job) : source(job) {}

        TableSource<Table> source;
        RowsAhead<record_type> ahead;
        bool is_finished = false;
    };

    /// `more` where each input that has not ended has a row, and some input has one.
    template <class Emit>
    SourceStatus read_ahead(Emit& emit) {
        constexpr std::size_t rows_ahead = 128;
        auto status = SourceStatus::finished;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            Input& input = inputs_[i];
            if (input.ahead.empty() && !input.is_finished) {
                input.ahead.forget();
                const SourceStatus found = input.source.poll(input.ahead, rows_ahead);
                input.is_finished = found == SourceStatus::finished;
                if (const auto malformed = input.ahead.take_malformed()) {
                    emit.count_malformed(malformed);
                }
                if (input.ahead.empty() && !input.is_finished) {
                    awaited_ = i;
                    return found;
                }
            }
            if (!input.ahead.empty()) status = SourceStatus::more;
        }
        return status;
    }

    std::vector<Input> inputs_;
    std::size_t awaited_ = 0;  // where the last poll that found no row looked in vain
};

}  // namespace strid::tool
