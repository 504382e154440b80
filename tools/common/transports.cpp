// SPDX-License-Identifier: Apache-2.0
#include "transports.hpp"

#ifdef STRID_HAS_KAFKA
#include <strid/kafka/kafka.hpp>
#endif
#ifdef STRID_HAS_MQTT
#include <strid/mqtt/mqtt.hpp>
#endif
#ifdef STRID_HAS_NATS
#include <strid/nats/nats.hpp>
#endif
#ifdef STRID_HAS_PARQUET
#include "parquet.hpp"
#endif
#ifdef STRID_HAS_POSTGRES
#include <strid/postgres/postgres.hpp>
#endif
#ifdef STRID_HAS_REDIS
#include <strid/redis/redis.hpp>
#endif
#ifdef STRID_HAS_SQLITE
#include <strid/sqlite/sqlite.hpp>
#endif
#ifdef STRID_HAS_TLS
#include <strid/tls/tls.hpp>
#endif
#ifdef STRID_HAS_WEBHOOK
#include <strid/webhook/webhook.hpp>
#endif

namespace strid::tool {

void add_transports() {
#ifdef STRID_HAS_KAFKA
    use_kafka();
#endif
#ifdef STRID_HAS_MQTT
    use_mqtt();
#endif
#ifdef STRID_HAS_NATS
    use_nats();
#endif
#ifdef STRID_HAS_PARQUET
    use_parquet_module();
#endif
#ifdef STRID_HAS_POSTGRES
    use_postgres();
#endif
#ifdef STRID_HAS_REDIS
    use_redis();
#endif
#ifdef STRID_HAS_SQLITE
    use_sqlite();
#endif
#ifdef STRID_HAS_TLS
    use_tls();
#endif
#ifdef STRID_HAS_WEBHOOK
    use_webhook();
#endif
}

}  // namespace strid::tool
