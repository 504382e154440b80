// SPDX-License-Identifier: Apache-2.0
#include <strid/operator/counter.hpp>

namespace strid::operators {

Counter CounterSet::counter(std::string_view name) {
    const std::lock_guard lock{mutex_};
    for (const auto& cell : cells_) {
        if (cell->name == name) return Counter{cell->value};
    }
    cells_.push_back(std::make_unique<Cell>());
    cells_.back()->name = name;
    return Counter{cells_.back()->value};
}

}  // namespace strid::operators
