// SPDX-License-Identifier: Apache-2.0
//
// Topics of an MQTT broker, as inputs and outputs of text (connector/transport.hpp); the library is
// strid::mqtt, of the package libmosquitto-dev.
//
//     mqtt://HOST:PORT/TOPIC?OPTION=VALUE&OPTION=VALUE
//
//     input    the topic may have wildcards: plant/+/temperature, plant/#
//     output   format=json       rows as objects with the names of the columns; csv (default)
//              key=COL           the field of this column stands behind the topic: TOPIC/FIELD
//              sink=NAME         tells two sinks of a run apart that write to one topic
//     both     qos=0, 1 or 2     quality of service: 1 (default) at least once
//              client=NAME       an input with a name has a session that the broker keeps: what is
//                                sent while the program is away comes when it is back
//              user=NAME         with the password in the environment's STRID_MQTT_PASSWORD
//              cafile=PATH       by TLS, with the certificates of this file
//
// A message is a row, a line: JSON, or CSV without a header. A message that was read is gone, so
// that a run with snapshots has a journal of it. A connection that is lost is made again. An output
// waits for the broker at the end of a transaction; after a kill rows of an epoch may come twice.
#pragma once

namespace strid {

/// From now on addresses that begin with mqtt: are served. Any thread, any number of times; a
/// program that includes this header need not call it.
void use_mqtt();

namespace detail {
inline const bool mqtt_is_used = (use_mqtt(), true);
}  // namespace detail

}  // namespace strid
