// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <strid/engine/kernel/node.hpp>

namespace strid::operators {

Node::Node(std::vector<std::string> operator_names, std::size_t replica, std::size_t parallelism)
    : names_(std::move(operator_names)),
      replica_(replica),
      parallelism_(parallelism),
      counts_(names_.size()),
      counters_(names_.size()) {}

}  // namespace strid::operators
