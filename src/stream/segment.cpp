// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/base/assert.hpp>
#include <strid/engine/plan/segment.hpp>

namespace strid::graph {

OperatorInfo::OperatorInfo(std::string named, std::string of_kind, const OperatorOptions& options)
    : name(std::move(named)),
      kind(std::move(of_kind)),
      is_named(!options.name.empty()),
      parallelism(options.parallelism),
      on_exception(options.on_exception) {}

OperatorInfo::OperatorInfo(const OperatorInfo&) = default;
OperatorInfo::OperatorInfo(OperatorInfo&&) noexcept = default;
OperatorInfo& OperatorInfo::operator=(const OperatorInfo&) = default;
OperatorInfo& OperatorInfo::operator=(OperatorInfo&&) noexcept = default;
OperatorInfo::~OperatorInfo() = default;

void OperatorInfo::add_note(std::string_view why) {
    if (!why.empty()) notes.emplace_back(why);
}

void OperatorInfo::take(OperatorFacts facts) {
    one_replica = one_replica || facts.one_replica;
    parallel_by_default = facts.parallel_by_default;
    shares_broadcast = facts.shares_broadcast;
    ends_time = facts.ends_time;
    light = facts.light;
    files = std::move(facts.files);
    for (const std::string& note : facts.notes) add_note(note);
}

SegmentBase::SegmentBase(std::vector<OperatorInfo> operators, Routing routing, std::size_t branches,
                         const SegmentShape& shape)
    : operators_(std::move(operators)),
      routing_(routing),
      targets_(branches, no_segment),
      shape_(shape) {}

SegmentBase::~SegmentBase() = default;

std::unique_ptr<operators::Node> SegmentBase::instantiate(std::size_t first, std::size_t last,
                                                          bool plain_output, std::size_t replica,
                                                          std::size_t parallelism) const {
    operators::NodePlace place{{}, replica, parallelism};
    for (std::size_t i = first; i < last; ++i) place.names.push_back(operators_[i].name);
    const bool is_plain = plain_output || last != operators_.size();
    auto node = node_of({first, last, is_plain}, place);
    STRID_ASSERT(node != nullptr);  // the planner asks for no other part
    return node;
}

std::unique_ptr<operators::Node> SegmentBase::instantiate_distribution(
    std::size_t replica, std::size_t parallelism) const {
    return distribution({{operators_.back().name + "-distribution"}, replica, parallelism});
}

}  // namespace strid::graph
