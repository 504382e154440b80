// SPDX-License-Identifier: Apache-2.0
//
// The properties of a node that its type shows, as text for explanations. Pure functions of types.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/type_name.hpp>
#include <strid/engine/pattern/fused.hpp>
#include <strid/engine/pattern/name_of_tasks.hpp>
#include <strid/engine/pattern/ordered.hpp>
#include <strid/engine/pattern/tagged.hpp>
#include <strid/pattern/composition.hpp>
#include <strid/pattern/description.hpp>
#include <strid/pattern/resource.hpp>

namespace strid::pattern::detail {

/// "int -> double" for each function that an operator is fused of.
template <class Operator>
struct FunctionsOf {
    static constexpr bool several = false;
    using Emitted = typename Operator::Emitted;
    static void add(std::vector<std::string>& all) {
        const std::string made = name_of_tasks<Emitted>();
        all.push_back(name_of_tasks<typename Operator::Arrived>() +
                      (made.empty() ? std::string() : " -> " + made));
    }
};
template <class First, class Second>
struct FunctionsOf<Comb<First, Second>> {
    static constexpr bool several = true;
    using Emitted = typename Second::Emitted;
    static void add(std::vector<std::string>& all) {
        FunctionsOf<First>::add(all);
        FunctionsOf<Second>::add(all);
    }
};
/// Marks, tags and resources are not the function's own.
template <class Operator>
struct FunctionsOf<Marking<Operator>> : FunctionsOf<Operator> {};
template <class Tag, class Operator>
struct FunctionsOf<TaggedOperator<Tag, Operator>> : FunctionsOf<Operator> {};
template <class Operator>
struct FunctionsOf<UsingOperator<Operator>> : FunctionsOf<Operator> {};

/// Of a node that runs an operator.
template <class Operator>
[[nodiscard]] NodeType type_of_operator() {
    using Functions = FunctionsOf<Operator>;
    NodeType type{.kind = std::string(Operator::traits.kind),
                  .takes = name_of_tasks<typename Operator::Arrived>(),
                  .makes = name_of_tasks<typename Functions::Emitted>(),
                  .uses_resource = UsesResource<Operator>};
    if constexpr (Functions::several) Functions::add(type.fused);
    return type;
}

/// A farm, as it is explained.
[[nodiscard]] PartDescription description_of(PartDescription::Kind kind, std::string policy,
                                             const FarmOptions& options, std::size_t workers);
/// "8 tasks, 64 KiB, the oldest that waits is dropped".
[[nodiscard]] std::string text_of(const Limit& limit);

/// The name of a type without its scope and its arguments: "ByKey" of strid::pattern::ByKey<F>.
[[nodiscard]] std::string bare_name(std::string name);

/// The name of a policy, with its depth where it has one: "OnDemand, depth 2".
template <class Policy>
[[nodiscard]] std::string name_of_policy(const Policy& policy) {
    std::string name = bare_name(type_name<Policy>());
    if constexpr (requires {
                      { policy.depth } -> std::convertible_to<std::size_t>;
                  }) {
        name += ", depth " + std::to_string(policy.depth);
    }
    return name;
}

/// The description of a node.
template <class N>
[[nodiscard]] NodeType type_of_node() {
    if constexpr (requires { N::type(); }) {
        return N::type();
    } else {
        return {};
    }
}

}  // namespace strid::pattern::detail
