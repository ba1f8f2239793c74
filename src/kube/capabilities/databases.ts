import type { Capabilities, Capability } from './capability.ts'
import { withoutFields } from './without-fields.ts'

/** Operators that hand out the credentials of what is referred to. */
const referring: Capability = {
  scope: 'Namespaced',
  fields: [{ at: 'spec.**.namespace', names: 'object', form: 'sibling' }],
}

const kinds = (group: string, names: string): Capabilities =>
  Object.fromEntries(names.split(' ').map(name => [`${group}/${name}`, referring]))

/** Databases and queues: CloudNativePG, Zalando, Strimzi, MinIO, MariaDB, RabbitMQ and Elastic. */
export const databases: Capabilities = {
  'acid.zalan.do/postgresql': {
    scope: 'Namespaced',
    fields: [
      { at: 'spec.users', names: 'secret', form: 'keys', access: 'write' },
      { at: 'spec.preparedDatabases.*.secretNamespace', names: 'namespace' },
    ],
  },
  'access.strimzi.io/KafkaAccess': referring,
  'sts.min.io/PolicyBinding': referring,
  ...kinds('k8s.mariadb.com', 'Backup Connection Database Grant MariaDB MaxScale PhysicalBackup Restore SqlJob User'),
  ...kinds('rabbitmq.com', 'Binding Exchange Federation Permission Policy Queue SchemaReplication Shovel User Vhost'),
  ...kinds('elasticsearch.k8s.elastic.co', 'Elasticsearch'),
  ...kinds('kibana.k8s.elastic.co', 'Kibana'),
  ...kinds('agent.k8s.elastic.co', 'Agent'),
  ...kinds('apm.k8s.elastic.co', 'ApmServer'),
  ...kinds('beat.k8s.elastic.co', 'Beat'),
  ...kinds('logstash.k8s.elastic.co', 'Logstash'),
  ...withoutFields(
    [
      'postgresql.cnpg.io/Backup postgresql.cnpg.io/Cluster postgresql.cnpg.io/Database postgresql.cnpg.io/ImageCatalog postgresql.cnpg.io/Pooler postgresql.cnpg.io/Publication postgresql.cnpg.io/ScheduledBackup postgresql.cnpg.io/Subscription',
      'kafka.strimzi.io/Kafka kafka.strimzi.io/KafkaBridge kafka.strimzi.io/KafkaConnect kafka.strimzi.io/KafkaConnector kafka.strimzi.io/KafkaMirrorMaker2 kafka.strimzi.io/KafkaNodePool kafka.strimzi.io/KafkaRebalance kafka.strimzi.io/KafkaTopic kafka.strimzi.io/KafkaUser',
      'minio.min.io/Tenant rabbitmq.com/RabbitmqCluster redis.redis.opstreelabs.in/Redis redis.redis.opstreelabs.in/RedisCluster dragonflydb.io/Dragonfly databases.spotahome.com/RedisFailover mongodbcommunity.mongodb.com/MongoDBCommunity',
    ].join(' '),
  ),
}
