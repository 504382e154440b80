// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Array of pointer performance": a virtual function of each object of a vector, a small
// one and one with many computations. The objects are of four classes in random order. The vector
// has pointers to objects that lie in its order or in a random one; beside it stand objects that
// are allocated one by one, a collection by type and a vector of variants.
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include <boost/poly_collection/algorithm.hpp>
#include <boost/poly_collection/base_collection.hpp>

#include "objects.hpp"
#include "tables.hpp"

namespace strid::bench {

namespace {

template <Function function>
[[gnu::noinline]] std::uint64_t sum_of(const std::vector<Object*>& objects) {
    std::uint64_t sum = 0;
    for (const Object* const object : objects) sum += call<function>(*object);
    return sum;
}
template <Function function>
[[gnu::noinline]] std::uint64_t sum_of(const std::vector<std::unique_ptr<Object>>& objects) {
    std::uint64_t sum = 0;
    for (const auto& object : objects) sum += call<function>(*object);
    return sum;
}
template <Function function>
[[gnu::noinline]] std::uint64_t sum_of(const std::vector<AnyKind>& objects) {
    std::uint64_t sum = 0;
    for (const AnyKind& any : objects) {
        sum += std::visit([](const auto& object) { return call<function>(object); }, any);
    }
    return sum;
}
template <Function function>
[[gnu::noinline]] std::uint64_t sum_of(const boost::base_collection<Object>& objects) {
    std::uint64_t sum = 0;
    boost::poly_collection::for_each<Kind<1>, Kind<2>, Kind<3>, Kind<4>>(
        objects.begin(), objects.end(),
        [&sum](const auto& object) { sum += call<function>(object); });
    return sum;
}

template <class Objects>
void both_functions(const TableOptions& options, const char* row, std::size_t count,
                    const Expected& expected, const Objects& objects) {
    measure(options, {"pointers", row, "small", count, count * largest_bytes}, expected.small,
            [&] { return sum_of<Function::small>(objects); });
    measure(options, {"pointers", row, "large", count, count * largest_bytes}, expected.large,
            [&] { return sum_of<Function::large>(objects); });
}

/// Objects in one block, in the order of the vector of pointers, then that vector shuffled.
void optimal_and_not(const TableOptions& options, std::size_t count, const Expected& expected) {
    const auto block = std::make_unique_for_overwrite<std::byte[]>(count * largest_bytes);
    std::byte* next = block.get();
    std::vector<Object*> objects;
    objects.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        objects.push_back(of_kind(i, [&next](const auto& object) -> Object* {
            using O = std::remove_cvref_t<decltype(object)>;
            Object* const placed = ::new (static_cast<void*>(next)) O(object);
            next += sizeof(O);
            return placed;
        }));
    }
    both_functions(options, "optimal layout", count, expected, objects);
    std::mt19937_64 generator{5};
    for (std::size_t i = count - 1; i != 0; --i) {
        std::swap(objects[i], objects[generator() % (i + 1)]);
    }
    both_functions(options, "non-optimal layout", count, expected, objects);
    for (Object* const object : objects) std::destroy_at(object);
}

void one_by_one(const TableOptions& options, std::size_t count, const Expected& expected) {
    std::vector<std::unique_ptr<Object>> objects;
    objects.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        objects.push_back(of_kind(i, [](const auto& object) -> std::unique_ptr<Object> {
            return std::make_unique<std::remove_cvref_t<decltype(object)>>(object);
        }));
    }
    both_functions(options, "std::unique_ptr, allocated in order", count, expected, objects);
}

void variants(const TableOptions& options, std::size_t count, const Expected& expected) {
    std::vector<AnyKind> objects;
    objects.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        of_kind(i, [&objects](const auto& object) {
            objects.emplace_back(object);
            return 0;
        });
    }
    both_functions(options, "vector of std::variant", count, expected, objects);
}

void by_type(const TableOptions& options, std::size_t count, const Expected& expected) {
    boost::base_collection<Object> objects;
    for (std::size_t i = 0; i != count; ++i) {
        of_kind(i, [&objects](const auto& object) {
            objects.insert(object);
            return 0;
        });
    }
    both_functions(options, "boost::base_collection, by type", count, expected, objects);
}

}  // namespace

void object_pointers(const TableOptions& options) {
    const std::size_t count = options.elements(20'000'000, largest_bytes + sizeof(Object*));
    const Expected expected = expected_of(count);
    optimal_and_not(options, count, expected);
    one_by_one(options, count, expected);
    variants(options, count, expected);
    by_type(options, count, expected);
}

}  // namespace strid::bench
