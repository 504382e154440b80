// SPDX-License-Identifier: Apache-2.0
#include "table_text.hpp"

namespace strid::tool {

std::string TableText::result_header() const {
    std::string header;
    for (const std::string& key : plan_->keys) {
        append_csv_field(header, key, ',');
        header += ',';
    }
    header += "window_start,window_end";
    for (const TableAggregateItem& item : plan_->items) {
        header += ',';
        append_csv_field(header, item.text, ',');
    }
    return header + '\n';
}

}  // namespace strid::tool
