// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/** The state of a car's account: rule 11 of linear-road/README.md. */
public class Account {
    public long balance;
    public int changed; // seconds

    @TypeInfo(StateTypes.Charges.class)
    public List<Charge> charges = new ArrayList<>(0); // that are not yet in the balance

    @TypeInfo(StateTypes.Questions.class)
    public List<Question> questions = new ArrayList<>(0); // that are not yet answered

    /** Takes the charges before that second into the balance. */
    void settle(long second) {
        int kept = 0;
        for (Charge charge : charges) {
            if (charge.time() < second) {
                balance += charge.toll();
                changed = Math.max(changed, charge.time());
            } else {
                charges.set(kept++, charge);
            }
        }
        charges.subList(kept, charges.size()).clear();
    }
}
