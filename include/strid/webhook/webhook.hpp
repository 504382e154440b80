// SPDX-License-Identifier: Apache-2.0
//
// Rows that are posted to a server by HTTP, as an output of text (connector/transport.hpp); the
// library is strid::webhook, of the package libcurl4-openssl-dev. (Lines that clients post are an
// input of every program: http-listen.)
//
//     http://HOST:PORT/PATH?OPTION=VALUE&OPTION=VALUE          https://...
//
//     format=json       a body has objects with the names of the columns, in lines; csv (default)
//     rows=1000         the most rows of a body; it has 1 MiB at most in any case
//     within=30s        the time in which a body must be sent and answered
//     cafile=PATH       https: with the certificates of this file
//     sink=NAME         tells two sinks of a run apart that post to one address
//
// Other options are those of the server, and are sent to it. The environment's
// STRID_HTTP_AUTHORIZATION is sent as the header Authorization.
//
// A body is posted until it is answered with 2xx, each time with the same Idempotency-Key, which no
// other body has: after a kill, too, in a run that takes snapshots. 429, 5xx, time-outs and lost
// connections are tried again; any other answer ends the run.
#pragma once

namespace strid {

/// From now on addresses that begin with http: and https: are served. Any thread, any number of
/// times; a program that includes this header need not call it.
void use_webhook();

namespace detail {
inline const bool webhook_is_used = (use_webhook(), true);
}  // namespace detail

}  // namespace strid
