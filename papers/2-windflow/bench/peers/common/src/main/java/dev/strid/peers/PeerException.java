// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

/** A wrong command line or input: its message is shown on one line, without a trace. */
public final class PeerException extends RuntimeException {
    public PeerException(String message) {
        super(message);
    }
}
