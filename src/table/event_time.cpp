// SPDX-License-Identifier: Apache-2.0
//
// The operator that draws watermarks, and deduplication.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>

#include "group_table.hpp"
#include "value_text.hpp"
#include "window_operator.hpp"

namespace strid::table {

namespace {

constexpr std::int64_t earliest = EventTime::earliest().ns();

class EventTimes final : public TableOperator {
  public:
    EventTimes(const std::string& column, Duration disorder, Schema schema, OnFault on_fault)
        : name_(column),
          column_(time_column(column, schema)),
          disorder_(disorder.count()),
          schema_(std::move(schema)),
          on_fault_(on_fault) {
        if (disorder_ < 0) throw GraphError("the disorder of an event time is negative");
    }
    EventTimes(const EventTimes& other)
        : EventTimes(other.name_, Duration{other.disorder_}, other.schema_, other.on_fault_) {}

    std::string_view kind() const noexcept override { return "event time"; }
    std::string text() const override {
        std::string text = "event time " + name_;
        if (Duration{disorder_} == Duration::max()) return text + ", watermark at the end";
        if (disorder_ == 0) return text;
        text += ", disorder ";
        append_interval_text(text, disorder_);
        return text;
    }
    const Schema& output() const noexcept override { return schema_; }
    std::unique_ptr<TableOperator> copy() const override {
        return std::make_unique<EventTimes>(*this);
    }
    bool needs_all_rows() const noexcept override { return true; }
    bool draws_time() const noexcept override { return true; }
    EventTime passed(EventTime /*arrived*/) const noexcept override {
        return EventTime::of_ns(watermark_);
    }

    void process(Chunk&& arrived, ChunkOutput& output) override {
        Chunk chunk = std::move(arrived);
        require_times(chunk, column_, on_fault_, memory_);
        const std::size_t rows = chunk.rows();
        if (rows == 0) return;
        const auto* const times = chunk.column(column_).values<std::int64_t>();
        const std::int64_t latest = latest_;
        const std::int64_t watermark = watermark_;
        bool is_behind = false;
        for (std::size_t row = 0; row != rows; ++row) {
            is_behind = is_behind || times[row] < watermark_;
            observe(times[row]);
        }
        chunk.set_watermarks({});
        if (is_behind) {
            latest_ = latest;
            watermark_ = watermark;
            Column met = memory_.column(Kind::time, rows);
            for (std::size_t row = 0; row != rows; ++row) {
                met.values<std::int64_t>()[row] = times[row] < watermark_ ? watermark_ : earliest;
                observe(times[row]);
            }
            chunk.set_watermarks(std::move(met));
        }
        output.emit(std::move(chunk));
    }
    bool ended(ChunkOutput& /*output*/) override {
        watermark_ = latest_;
        return true;
    }
    void save(StateWriter& writer) const override {
        state::save(writer, latest_);
        state::save(writer, watermark_);
    }
    void load(StateReader& reader) override {
        state::load(reader, latest_);
        state::load(reader, watermark_);
    }

  private:
    void observe(std::int64_t time) noexcept {
        latest_ = std::max(latest_, time);
        if (disorder_ == Duration::max().count()) return;  // no row is late
        const std::int64_t drawn = time < earliest + disorder_ ? earliest : time - disorder_;
        watermark_ = std::max(watermark_, drawn);
    }

    std::string name_;
    std::size_t column_;
    std::int64_t disorder_;
    Schema schema_;
    OnFault on_fault_;
    std::int64_t latest_ = earliest;
    std::int64_t watermark_ = earliest;
    ChunkMemory memory_;
};

/// A span of time as long as `within`, counted from 0, has one row of a key at most that has
/// passed, so that a group for each key and span says all.
class Deduplicate final : public TableOperator {
  public:
    Deduplicate(const std::vector<std::string>& columns, const std::string& time, Duration within,
                Schema schema, OnFault on_fault)
        : columns_(columns),
          time_name_(time),
          within_(within.count()),
          schema_(std::move(schema)),
          on_fault_(on_fault),
          keys_(std::make_shared<const KeyRows>(columns, schema_)),
          time_(time_column(time, schema_)),
          table_(keys_, sizeof(std::int64_t)),
          row_keys_(chunk_rows_max * keys_->words()),
          hashes_(chunk_rows_max) {
        if (columns.empty()) throw GraphError("deduplicate: there is no column");
        if (within_ <= 0) {
            throw GraphError("the time within which rows repeat each other must be positive");
        }
    }
    Deduplicate(const Deduplicate& other)
        : Deduplicate(other.columns_, other.time_name_, Duration{other.within_}, other.schema_,
                      other.on_fault_) {}

    std::string_view kind() const noexcept override { return "deduplicate"; }
    std::string text() const override {
        std::string text = "deduplicate";
        for (std::size_t i = 0; i != columns_.size(); ++i) {
            text += (i == 0 ? " " : ", ") + columns_[i];
        }
        text += " within ";
        append_interval_text(text, within_);
        return text + " of " + time_name_;
    }
    const Schema& output() const noexcept override { return schema_; }
    std::unique_ptr<TableOperator> copy() const override {
        return std::make_unique<Deduplicate>(*this);
    }
    bool needs_all_rows() const noexcept override { return true; }

    void process(Chunk&& arrived, ChunkOutput& output) override {
        Chunk chunk = std::move(arrived);
        require_times(chunk, time_, on_fault_, memory_);
        part_late(chunk, output);
        if (chunk.rows() == 0) return;
        keys_->read(chunk, row_keys_.data(), hashes_.data());
        const auto* const times = chunk.column(time_).values<std::int64_t>();
        kept_.clear();
        for (std::size_t row = 0; row != chunk.rows(); ++row) {
            if (passes(row, times[row])) kept_.push_back(static_cast<std::uint16_t>(row));
        }
        if (kept_.empty()) return;
        chunk.keep_rows(kept_, memory_);
        output.emit(std::move(chunk));
    }
    bool watermark(EventTime watermark, ChunkOutput& /*output*/) override {
        watermark_ = std::max(watermark_, watermark.ns());
        while (!spans_.empty()) {
            const auto span = spans_.begin();
            // The last time of the span, and what it repeats.
            const Wide last = (Wide{span->first} + 2) * within_ - 1;
            if (last > watermark_) break;
            for (Group* group = span->second; group != nullptr;) {
                table_.erase(std::exchange(group, group->next));
            }
            spans_.erase(span);
        }
        return true;
    }
    void save(StateWriter& writer) const override {
        state::save(writer, watermark_);
        writer.length(table_.size());
        for (const auto& [number, first] : spans_) {
            for (const Group* group = first; group != nullptr; group = group->next) {
                keys_->save(writer, group->key());
                state::save(writer, *reinterpret_cast<const std::int64_t*>(table_.state(group)));
            }
        }
    }
    void load(StateReader& reader) override {
        state::load(reader, watermark_);
        std::vector<std::uint64_t> key(keys_->words());
        for (std::size_t left = reader.length(sizeof(std::int64_t)); left != 0; --left) {
            const std::uint64_t hash = keys_->load(reader, key.data());
            std::int64_t time = 0;
            try {
                state::load(reader, time);
            } catch (...) {
                keys_->release(key.data());
                throw;
            }
            keep(table_.adopt(hash, span_of(time), key.data()), time);
        }
    }

  private:
    __extension__ using Wide = __int128;

    [[nodiscard]] std::int64_t span_of(std::int64_t time) const noexcept {
        const std::int64_t quotient = time / within_;
        return time % within_ < 0 ? quotient - 1 : quotient;
    }
    void part_late(Chunk& chunk, ChunkOutput& output) {
        const auto* const times = chunk.column(time_).values<std::int64_t>();
        const bool has_own = chunk.watermarks().capacity() != 0;
        const auto* const own = chunk.watermarks().values<std::int64_t>();
        late_.clear();
        kept_.clear();
        for (std::size_t row = 0; row != chunk.rows(); ++row) {
            const bool is_late = times[row] < (has_own ? own[row] : watermark_);
            (is_late ? late_ : kept_).push_back(static_cast<std::uint16_t>(row));
        }
        LateRows::part(chunk, late_, kept_, memory_, output);
    }
    [[nodiscard]] bool passes(std::size_t row, std::int64_t time) {
        const std::uint64_t* const key = row_keys_.data() + row * keys_->words();
        const std::int64_t span = span_of(time);
        for (const std::int64_t step : {-1, 0, 1}) {
            const std::int64_t near = strid::detail::saturating_add(span, step);
            const Group* const group = table_.find(hashes_[row], near, key);
            if (group == nullptr) continue;
            const std::int64_t one = *reinterpret_cast<const std::int64_t*>(table_.state(group));
            const Wide apart = one < time ? Wide{time} - one : Wide{one} - time;
            if (apart < within_) return false;
        }
        keep(table_.make(hashes_[row], span, key), time);
        return true;
    }
    void keep(Group* group, std::int64_t time) {
        *reinterpret_cast<std::int64_t*>(table_.state(group)) = time;
        Group*& first = spans_[group->place];
        group->next = std::exchange(first, group);
    }

    std::vector<std::string> columns_;
    std::string time_name_;
    std::int64_t within_;
    Schema schema_;
    OnFault on_fault_;
    std::shared_ptr<const KeyRows> keys_;
    std::size_t time_;
    GroupTable table_;
    std::map<std::int64_t, Group*> spans_;  // the groups of each
    std::int64_t watermark_ = earliest;
    ChunkMemory memory_;
    std::vector<std::uint64_t> row_keys_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint16_t> late_;
    std::vector<std::uint16_t> kept_;
};

}  // namespace

std::unique_ptr<TableOperator> event_time(const std::string& column, Duration disorder,
                                          const Schema& schema, OnFault on_fault) {
    return std::make_unique<EventTimes>(column, disorder, schema, on_fault);
}

std::unique_ptr<TableOperator> deduplicate(const std::vector<std::string>& columns,
                                           const std::string& time, Duration within,
                                           const Schema& schema, OnFault on_fault) {
    return std::make_unique<Deduplicate>(columns, time, within, schema, on_fault);
}

}  // namespace strid::table
