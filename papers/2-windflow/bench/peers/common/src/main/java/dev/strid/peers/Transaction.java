// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;

/** A transaction of an account, its state as the number that the model gives it. */
public final class Transaction implements Serializable {
    public String account;
    public String transaction;
    public int state;

    public Transaction() {}

    public Transaction(String account, String transaction, int state) {
        this.account = account;
        this.transaction = transaction;
        this.state = state;
    }

    /** Rows of account,transaction,state. */
    public static List<Transaction> read(Path file, MarkovModel model) {
        return Input.csv(file, 3,
                cells -> new Transaction(cells[0], cells[1], model.number(cells[2])));
    }
}
