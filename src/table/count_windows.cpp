// SPDX-License-Identifier: Apache-2.0
//
// Windows of a number of rows of a key, one behind the other. A window that is full is given behind
// the rows of its chunk, and one that is not full at the end of the rows, with its end there.
// `first` and `last` go by the order in which rows come.
#include <limits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>

#include "window_operator.hpp"

namespace strid::table {

namespace {

/// A window that is filled, in front of its aggregates.
struct Filled {
    std::int64_t first;  // position of its first row in those of the key
    std::int64_t rows;
    std::uint32_t number;
    std::uint32_t unused;
};

class CountWindowed final : public WindowOperator {
  public:
    CountWindowed(const WindowSpec& spec, const Schema& schema, OnFault on_fault)
        : WindowOperator(spec, schema, on_fault),
          length_(static_cast<std::int64_t>(std::get<window::CountWindows>(spec.windows).length())),
          table_(keys_, sizeof(Filled*)),
          pool_(sizeof(Filled) + aggregates_.bytes()) {
        const auto& windows = std::get<window::CountWindows>(spec.windows);
        if (windows.slide() != windows.length() || windows.offset() != 0 || length_ < 0) {
            throw GraphError("windows of a number of rows lie one behind the other in a table");
        }
    }
    ~CountWindowed() override {
        for (Group* group = first_; group != nullptr; group = group->next) {
            aggregates_.release(state(filled_of(group)));
        }
    }

    void process(Chunk&& chunk, ChunkOutput& output) override {
        const std::size_t rows = chunk.rows();
        read_keys(chunk);
        std::fill_n(places_.begin(), rows, std::int64_t{0});
        table_.find_rows(row_keys_.data(), hashes_.data(), places_.data(), rows, groups_.data(),
                         [this](std::size_t, Group* group) {
                             append(group);
                             filled_of(group) = make(0);
                         });
        for (std::size_t row = 0; row != rows; ++row) {
            Filled*& filled = filled_of(groups_[row]);
            states_[row] = state(filled);
            if (++filled->rows != length_) continue;
            full_.push_back({groups_[row], filled});
            filled = make(filled->first + length_);
        }
        aggregates_.add({chunk, 0, rows, states_.data(), places_.data()});
        for (const auto& [group, filled] : full_) {
            give(group->key(), filled->first, filled->first + length_, state(filled), output);
            aggregates_.release(state(filled));
            pool_.free(filled->number);
        }
        full_.clear();
        send(output);
    }

    bool ended(ChunkOutput& output) override {
        if (!std::exchange(has_ended_, true)) open_ = first_;
        for (; open_ != nullptr; open_ = open_->next) {
            Filled* const filled = filled_of(open_);
            if (filled->rows == 0) continue;
            if (!output.room()) {
                send(output);
                return false;
            }
            give(open_->key(), filled->first, filled->first + filled->rows, state(filled), output);
        }
        send(output);
        return true;
    }

    void save(StateWriter& writer) const override {
        writer.length(table_.size());
        for (const Group* group = first_; group != nullptr; group = group->next) {
            const Filled* const filled = *reinterpret_cast<Filled* const*>(table_.state(group));
            keys_->save(writer, group->key());
            state::save(writer, filled->first);
            state::save(writer, filled->rows);
            aggregates_.save(writer, reinterpret_cast<const std::byte*>(filled + 1));
        }
    }
    void load(StateReader& reader) override {
        std::vector<std::uint64_t> key(keys_->words());
        for (std::size_t left = reader.length(2 * sizeof(std::int64_t)); left != 0; --left) {
            const std::uint64_t hash = keys_->load(reader, key.data());
            Group* const group = table_.adopt(hash, 0, key.data());
            Filled* const filled = filled_of(group) = make(0);
            append(group);
            state::load(reader, filled->first);
            state::load(reader, filled->rows);
            if (filled->rows < 0 || filled->rows >= length_ || filled->first < 0 ||
                filled->first > std::numeric_limits<std::int64_t>::max() / 2) {
                reader.refuse("is no window of rows");
            }
            aggregates_.load(reader, state(filled));
        }
    }

  private:
    struct Full {
        Group* group;
        Filled* filled;
    };

    [[nodiscard]] Filled*& filled_of(Group* group) noexcept {
        return *reinterpret_cast<Filled**>(table_.state(group));
    }
    [[nodiscard]] static std::byte* state(Filled* filled) noexcept {
        return reinterpret_cast<std::byte*>(filled + 1);
    }
    Filled* make(std::int64_t first) {
        std::uint32_t number = 0;
        auto* const filled = reinterpret_cast<Filled*>(pool_.make(number));
        filled->first = first;
        filled->number = number;
        return filled;
    }
    void append(Group* group) noexcept {
        (first_ == nullptr ? first_ : last_->next) = group;
        last_ = group;
    }

    std::int64_t length_;
    GroupTable table_;  // by key: the window that is filled
    RecordPool pool_;
    Group* first_ = nullptr;  // of all keys, which stay
    Group* last_ = nullptr;
    std::vector<Full> full_;
    Group* open_ = nullptr;  // the next to be given at the end
    bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<TableOperator> count_windowed(const WindowSpec& spec, const Schema& schema,
                                              OnFault on_fault) {
    return std::make_unique<CountWindowed>(spec, schema, on_fault);
}

}  // namespace strid::table
