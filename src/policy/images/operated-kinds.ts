import type { Path } from '../../kube/node.ts'

/**
 * Kinds whose operator makes Pods and chooses their images, unless fields of the object name them: from the
 * CustomResourceDefinitions of the projects. The first field is the one of the main container.
 */
const OPERATED: Readonly<Record<string, readonly string[]>> = {
  'acid.zalan.do/postgresql': ['spec.dockerImage'],
  'elasticsearch.k8s.elastic.co/Elasticsearch': ['spec.image'],
  'jaegertracing.io/Jaeger': [],
  'k8s.mariadb.com/MariaDB': ['spec.image'],
  'kafka.strimzi.io/Kafka': [
    ...['spec.kafka.image', 'spec.zookeeper.image', 'spec.cruiseControl.image', 'spec.kafkaExporter.image'],
    ...['spec.entityOperator.topicOperator.image', 'spec.entityOperator.userOperator.image'],
  ],
  'kafka.strimzi.io/KafkaBridge': ['spec.image'],
  'kafka.strimzi.io/KafkaConnect': ['spec.image'],
  'kafka.strimzi.io/KafkaMirrorMaker2': ['spec.image'],
  'kibana.k8s.elastic.co/Kibana': ['spec.image'],
  'kubevirt.io/VirtualMachine': [],
  'kubevirt.io/VirtualMachineInstance': [],
  'minio.min.io/Tenant': ['spec.image'],
  'mongodbcommunity.mongodb.com/MongoDBCommunity': [],
  'monitoring.coreos.com/Alertmanager': ['spec.image'],
  'monitoring.coreos.com/Prometheus': ['spec.image', 'spec.thanos.image'],
  'monitoring.coreos.com/PrometheusAgent': ['spec.image'],
  'monitoring.coreos.com/ThanosRuler': ['spec.image'],
  'opentelemetry.io/OpenTelemetryCollector': ['spec.image'],
  'postgresql.cnpg.io/Cluster': ['spec.imageName'],
  'postgresql.cnpg.io/Pooler': [],
  'psmdb.percona.com/PerconaServerMongoDB': ['spec.image'],
  'pxc.percona.com/PerconaXtraDBCluster': ['spec.pxc.image', 'spec.haproxy.image', 'spec.proxysql.image'],
  'rabbitmq.com/RabbitmqCluster': ['spec.image'],
  'redis.redis.opstreelabs.in/Redis': ['spec.kubernetesConfig.image'],
  'redis.redis.opstreelabs.in/RedisCluster': ['spec.kubernetesConfig.image'],
  'serving.kserve.io/InferenceService': [],
  'tekton.dev/PipelineRun': [],
  'tekton.dev/TaskRun': [],
}

/** The fields that hold images, by `<group>/<Kind>`. */
export const OPERATED_KINDS: ReadonlyMap<string, readonly Path[]> = new Map(
  Object.entries(OPERATED).map(([kind, fields]) => [kind, fields.map(field => field.split('.'))]),
)
