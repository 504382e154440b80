// SPDX-License-Identifier: Apache-2.0
//
// Topics of Kafka, as inputs and outputs of text (connector/transport.hpp); the library is
// strid::kafka, of the package librdkafka-dev.
//
//     kafka://HOST:PORT,HOST:PORT/TOPIC?OPTION=VALUE&OPTION=VALUE
//
//     input    start=earliest  the first message of each partition (default)
//              start=latest    the messages that come from now on
//              start=@TIME     those from a time on, in milliseconds since 1970
//              partition=1,2   of these partitions; others that are added later are not read
//              until=end       up to what there is at the start; else messages are waited for
//              group=NAME      partitions are shared out among the processes of a consumer group;
//                              only without snapshots
//              settle=TIME     with a group: an offset is committed so long after the row of its
//                              message was emitted (default 1s)
//              with=FIELD,...  key, time, partition, offset, header.NAME: columns about a message
//              tombstones=rows a message without a value is a row of the fields of `with` alone
//     output   format=json     rows as objects with the names of the columns; csv (default)
//              key=COL,...     the key of a message is the field of this column, or a row of those
//                              of several: messages with the same key are in one partition, in
//                              their order
//              header=COL,...  the fields of these columns are headers, and not in the message
//              tombstones=void a row whose column `correction` is `void` is a message without a
//                              value
//              sink=NAME       tells two sinks of a run apart that write to one topic
//     both     config=FILE     options of librdkafka, NAME=VALUE in lines: passwords go there
//
// Other options are those of librdkafka (security.protocol, sasl.mechanism, fetch.max.bytes).
//
// A message is a row, a line: JSON, or CSV without a header.
// The messages of a partition come in their order. With snapshots a run goes on at the offsets of
// the snapshot; no group is joined and no offset committed. A group gives each message at least
// once: where none of its processes is killed, once. Records of partitions that are read
// together are behind each other by as much as the partitions are; --disorder, or an input for each
// partition with --merge-inputs, allows for it.
//
// An output without snapshots sends rows at once, each once (idempotence). With snapshots the rows
// of an epoch are one transaction, and its number the committed offset of a group of the stream's
// own: readers that read committed messages get each row once. A second process with the same
// snapshots is fenced.
#pragma once

namespace strid {

/// From now on addresses that begin with kafka: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_kafka();

namespace detail {
inline const bool kafka_is_used = (use_kafka(), true);
}  // namespace detail

}  // namespace strid
