// SPDX-License-Identifier: Apache-2.0
#include "data/instructions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace strid::exchange {

namespace {

using fix::Field;
using fix::Message;
using fix::Tag;

/// Read by the books, and the header of the link.
constexpr std::array tags_read{
    int{Tag::cl_ord_id},     int{Tag::msg_seq_num},    int{Tag::order_qty},
    int{Tag::ord_type},      int{Tag::orig_cl_ord_id}, int{Tag::price},
    int{Tag::ref_seq_num},   int{Tag::sender_comp_id}, int{Tag::sending_time},
    int{Tag::side},          int{Tag::symbol},         int{Tag::target_comp_id},
    int{Tag::time_in_force},
};

/// Notes of a client about its order, about itself, or about the instrument that the symbol
/// names. None of it changes how an order is handled.
constexpr std::array tags_noted{
    1,    // Account
    15,   // Currency: each symbol has one
    22,   // SecurityIDSource
    37,   // OrderID: OrigClOrdID names the order
    47,   // Rule80A
    48,   // SecurityID
    58,   // Text
    60,   // TransactTime
    66,   // ListID
    75,   // TradeDate
    76,   // ExecBroker
    106,  // Issuer
    107,  // SecurityDesc
    109,  // ClientID
    198,  // SecondaryOrderID
    207,  // SecurityExchange
    229,  // TradeOriginationDate
    348,  // EncodedIssuerLen
    349,  // EncodedIssuer
    350,  // EncodedSecurityDescLen
    351,  // EncodedSecurityDesc
    354,  // EncodedTextLen
    355,  // EncodedText
    376,  // ComplianceID
    377,  // SolicitedFlag
    447,  // PartyIDSource
    448,  // PartyID
    452,  // PartyRole
    453,  // NoPartyIDs
    454,  // NoSecurityAltID
    455,  // SecurityAltID
    456,  // SecurityAltIDSource
    460,  // Product
    461,  // CFICode
    523,  // PartySubID
    526,  // SecondaryClOrdID
    528,  // OrderCapacity
    581,  // AccountType
    582,  // CustOrderCapacity
    583,  // ClOrdLinkID
    660,  // AcctIDSource
    802,  // NoPartySubIDs
    803,  // PartySubIDType
};

/// Instructions that say what the exchange does anyway.
struct Usual {
    int tag;
    std::string_view values;  // one character each
};
constexpr std::array usual{
    Usual{21, "12"},  // HandlInst: automated, with or without a broker's intervention
    Usual{63, "01"},  // SettlType: regular, cash
    Usual{114, "N"},  // LocateReqd
    Usual{121, "N"},  // ForexReq
    Usual{423, "2"},  // PriceType: per unit
    Usual{854, "0"},  // QtyType: units
};

bool contains(const auto& tags, int tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace

std::string fault_of_instructions(const Message& message) {
    for (const Field& field : message) {
        if (contains(tags_read, field.tag) || contains(tags_noted, field.tag)) continue;
        // A common share, which is all that the exchange trades.
        constexpr int security_type = 167;
        if (field.tag == security_type && field.value == "CS") continue;
        const auto* const found = std::find_if(
            usual.begin(), usual.end(), [&](const Usual& one) { return one.tag == field.tag; });
        const bool is_known = found != usual.end() || field.tag == security_type;
        if (!is_known) return fmt::format("tag {} is not supported", field.tag);
        if (found == usual.end() || field.value.size() != 1 ||
            found->values.find(field.value[0]) == std::string_view::npos) {
            return fmt::format("tag {} is not supported with this value", field.tag);
        }
    }
    return {};
}

MarketDataFault fault_of_market_data(const Message& message) {
    bool bids = false;
    bool offers = false;
    for (const Field& field : message) {
        const std::string& value = field.value;
        switch (field.tag) {
            case 146:
                if (value != "1") return {'0', "NoRelatedSym (146) is not 1"};
                break;
            case 265:
                // Increments follow a snapshot, and no request of one snapshot.
                if (value != "1" && message.get_or(Tag::subscription_request_type, "") == "1") {
                    return {'6', "MDUpdateType (265) is not 1"};
                }
                break;
            case 266:
                if (value != "Y") return {'7', "AggregatedBook (266) is not Y"};
                break;
            case 269:
                (value == "0" ? bids : offers) = true;
                if (value != "0" && value != "1") {
                    return {'8', "MDEntryType (269) is none of 0, 1"};
                }
                break;
            case 286:
                return {'B', "OpenCloseSettlFlag (286) is not supported"};
            case 336:
                return {'9', "TradingSessionID (336) is not supported"};
            case 546:
                return {'A', "Scope (546) is not supported"};
            case 547:
                if (value != "N") return {'C', "MDImplicitDelete (547) is not N"};
                break;
            default:
                break;
        }
    }
    if (bids != offers) return {'8', "MDEntryType (269) is not both 0 and 1"};
    return {};
}

}  // namespace strid::exchange
