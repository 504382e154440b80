// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An event of an ad on a page (yahoo-benchmark). */
public final class AdEvent implements Serializable {
    public long user;
    public long page;
    public long ad;
    public String adType;
    public String eventType;
    public long timeMs;
    public String address;

    public AdEvent() {}

    /** Rows of user,page,ad,ad_type,event_type,event_time,ip. */
    public static List<AdEvent> read(Path file) {
        return Input.csv(file, 7, cells -> {
            AdEvent event = new AdEvent();
            event.user = Long.parseLong(cells[0]);
            event.page = Long.parseLong(cells[1]);
            event.ad = Long.parseLong(cells[2]);
            event.adType = cells[3].intern();
            event.eventType = cells[4].intern();
            event.timeMs = Long.parseLong(cells[5]);
            event.address = cells[6];
            return event;
        });
    }

    /** The campaign by ad, of rows ad,campaign. */
    public static Map<Long, Long> readCampaigns(Path file) {
        Map<Long, Long> campaigns = new HashMap<>();
        for (Long[] row : Input.csv(file, 2,
                cells -> new Long[] {Long.valueOf(cells[0]), Long.valueOf(cells[1])})) {
            campaigns.put(row[0], row[1]);
        }
        return campaigns;
    }

    /** What the times of all events span, so that those of the next round follow. */
    public static long spanMs(List<AdEvent> events) {
        var times = events.stream().mapToLong(event -> event.timeMs).summaryStatistics();
        return events.isEmpty() ? 0 : times.getMax() - times.getMin() + 1;
    }

    /** A copy that many milliseconds later. */
    public AdEvent later(long ms) {
        AdEvent event = new AdEvent();
        event.user = user;
        event.page = page;
        event.ad = ad;
        event.adType = adType;
        event.eventType = eventType;
        event.timeMs = timeMs + ms;
        event.address = address;
        return event;
    }
}
