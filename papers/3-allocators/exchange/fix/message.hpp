// SPDX-License-Identifier: Apache-2.0
//
// A FIX 4.4 message: its type and its fields, tag and text, in the order of the message. A field is
// a node of a list, as engines for FIX keep them: 56 bytes on the heap for each, and the text where
// it is longer than a std::string holds in itself.
//
// Not here: BeginString (8), BodyLength (9) and CheckSum (10), which encode() makes and the decoder
// checks, and MsgType (35), which is type().
//
// One thread at a time; constant member functions any number at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace strid::exchange::fix {

/// Ends each field.
inline constexpr char soh = '\x01';
inline constexpr std::string_view begin_string = "FIX.4.4";

/// A field that is missing, or whose value is not what its tag asks for.
class FieldError : public std::runtime_error {
  public:
    /// `reason` is the SessionRejectReason (373).
    FieldError(int tag, int reason, const std::string& text)
        : std::runtime_error(text), tag_(tag), reason_(reason) {}
    [[nodiscard]] int tag() const noexcept { return tag_; }
    [[nodiscard]] int reason() const noexcept { return reason_; }

  private:
    int tag_;
    int reason_;
};

/// SessionRejectReason (373).
struct Reason {
    enum : int {
        invalid_tag_number = 0,
        required_tag_missing = 1,
        tag_not_defined_for_message = 2,
        tag_without_value = 4,
        value_out_of_range = 5,
        incorrect_format = 6,
        comp_id_problem = 9,
        sending_time_problem = 10,
        invalid_message_type = 11,
        tag_more_than_once = 13,
        other = 99,
    };
};

/// Tags that the exchange uses.
struct Tag {
    enum : int {
        avg_px = 6,
        begin_string = 8,
        body_length = 9,
        begin_seq_no = 7,
        check_sum = 10,
        cl_ord_id = 11,
        cum_qty = 14,
        end_seq_no = 16,
        exec_id = 17,
        last_px = 31,
        last_qty = 32,
        msg_seq_num = 34,
        msg_type = 35,
        new_seq_no = 36,
        order_id = 37,
        order_qty = 38,
        ord_status = 39,
        ord_type = 40,
        orig_cl_ord_id = 41,
        poss_dup_flag = 43,
        price = 44,
        ref_seq_num = 45,
        sender_comp_id = 49,
        sending_time = 52,
        side = 54,
        symbol = 55,
        target_comp_id = 56,
        text = 58,
        time_in_force = 59,
        transact_time = 60,
        encrypt_method = 98,
        ord_rej_reason = 103,
        heart_bt_int = 108,
        test_req_id = 112,
        gap_fill_flag = 123,
        orig_sending_time = 122,
        reset_seq_num_flag = 141,
        exec_type = 150,
        leaves_qty = 151,
        md_req_id = 262,
        subscription_request_type = 263,
        ref_tag_id = 371,
        ref_msg_type = 372,
        session_reject_reason = 373,
        business_reject_reason = 380,
        next_expected_msg_seq_num = 789,
    };
};

struct Field {
    int tag;
    std::string value;
};

class Message {
  public:
    Message() = default;
    explicit Message(std::string_view type) : type_(type) {}

    [[nodiscard]] const std::string& type() const noexcept { return type_; }
    void set_type(std::string_view type) { type_ = type; }
    [[nodiscard]] bool is(std::string_view type) const noexcept { return type_ == type; }

    /// Replaces the first field of this tag, or adds one. FieldError where `value` is empty or has
    /// a SOH in it, std::invalid_argument of the tags that are not kept here.
    Message& set(int tag, std::string_view value);
    Message& set(int tag, std::int64_t value);
    /// Adds one more, for repeating groups; as set().
    Message& add(int tag, std::string_view value);
    Message& add(int tag, std::int64_t value);
    /// Takes all fields of this tag away.
    void erase(int tag) noexcept;
    void clear() noexcept;

    /// The first field of this tag, or null. O(fields), as all that look for a tag.
    [[nodiscard]] const std::string* find(int tag) const noexcept;
    [[nodiscard]] bool has(int tag) const noexcept { return find(tag) != nullptr; }
    /// FieldError (required_tag_missing) where there is none.
    [[nodiscard]] const std::string& get(int tag) const;
    [[nodiscard]] std::string_view get_or(int tag, std::string_view absent) const noexcept;
    /// A whole number that fits; FieldError (required_tag_missing, incorrect_format).
    [[nodiscard]] std::int64_t integer(int tag) const;
    [[nodiscard]] std::int64_t integer_or(int tag, std::int64_t absent) const;
    /// "Y" or "N"; absent is false. FieldError (value_out_of_range).
    [[nodiscard]] bool flag(int tag) const;

    [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
    [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
    [[nodiscard]] auto begin() const noexcept { return fields_.begin(); }
    [[nodiscard]] auto end() const noexcept { return fields_.end(); }

    /// The whole message as it is sent: fields of the header stand before the others, each in the
    /// order in which it was added.
    [[nodiscard]] std::string encode() const;
    /// The same behind what is in `out`; with one field more at the end, where `extra` is given.
    void encode_to(std::string& out, const Field* extra = nullptr) const;
    /// With '|' for the SOH, for people.
    [[nodiscard]] std::string to_text() const;

  private:
    friend class FieldReader;

    std::string type_;
    std::list<Field> fields_;
};

/// The memory of a message on the heap.
[[nodiscard]] std::size_t kept_bytes(const Message& message) noexcept;

/// Of the standard header, beside 8, 9 and 35.
[[nodiscard]] bool is_header(int tag) noexcept;

}  // namespace strid::exchange::fix
