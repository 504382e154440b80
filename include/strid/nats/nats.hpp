// SPDX-License-Identifier: Apache-2.0
//
// Streams of NATS JetStream, as inputs and outputs of text (connector/transport.hpp); the library
// is strid::nats, of the package libnats-dev.
//
//     nats://HOST:PORT/SUBJECT?stream=NAME&OPTION=VALUE
//
//     input    the subject may have wildcards: plant.*.temperature, plant.>
//              start=earliest    the first message of the stream (default)
//              start=latest      the messages that come from now on
//              start=@TIME       those from a time on, in milliseconds since 1970
//              start=NUMBER      those from a sequence number of the stream on
//              until=end         up to what there is at the start; else messages are waited for
//              with=FIELD,...    subject, time, sequence, header.NAME: columns about a message
//     output   format=json       rows as objects with the names of the columns; csv (default)
//              key=COL           the field of this column stands behind the subject:
//                                SUBJECT.FIELD, with %XX for characters that have a meaning there
//              sink=NAME         tells two sinks of a run apart that write to one subject
//     both     stream=NAME       the stream, which must be there
//              user=NAME         with the password in the environment's STRID_NATS_PASSWORD; a
//                                token is in STRID_NATS_TOKEN
//              cafile=PATH       by TLS, with the certificates of this file
//
// A message is a row, a line: JSON, or CSV without a header; one without text is passed over. With
// snapshots a run goes on at the sequence number of the snapshot; nothing is acknowledged, and no
// consumer of the user's is used. A connection that is lost is made again, behind the last message.
//
// An output sends each row as a message with an id, by which the server drops one that comes twice
// within the duplicate window of the stream, and waits for the acknowledgements of an epoch. Beyond
// the window a run that goes on finds the ids of its last epoch in the stream, where the last
// message of the subjects is its own.
#pragma once

namespace strid {

/// From now on addresses that begin with nats: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_nats();

namespace detail {
inline const bool nats_is_used = (use_nats(), true);
}  // namespace detail

}  // namespace strid
