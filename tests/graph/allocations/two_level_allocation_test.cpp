// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows that are made of parts (grouped.hpp).
#include "grouped.hpp"

namespace strid {
namespace {

using namespace test;

TEST(Allocations, NoneForARecordInTwoLevels) {
    expect_none_when_grouped("combined", [](auto grouped) {
        return std::move(grouped).window(of_much_time, sum_of_rests, share::combined);
    });
    expect_none_when_grouped("paned, of counts", [](auto grouped) {
        return std::move(grouped).window(of_many_counts, sum_of_rests, share::paned, with_three);
    });
    expect_none_when_grouped("paned, of time", [](auto grouped) {
        return std::move(grouped).window(of_much_time, sum_of_rests, share::paned, with_three);
    });
    expect_none_when_grouped("map-reduce, of counts", [](auto grouped) {
        return std::move(grouped).window(of_many_counts, sum_of_rests, share::map_reduce,
                                         with_three);
    });
    expect_none_when_grouped("map-reduce, of time", [](auto grouped) {
        return std::move(grouped).window(of_much_time, sum_of_rests, share::map_reduce, with_three);
    });
}

}  // namespace
}  // namespace strid
