import { type GoType, goTypeOf } from '../../../src/flux/go-round-trip.ts'
import table from '../../../src/flux/go-types.json' with { type: 'json' }
import type { Chance } from './chance.ts'
import { type Fields, Raw, type Value } from './value.ts'
import { scalar } from './vocabulary.ts'

const COMMON = [
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'apps/v1 DaemonSet',
  'batch/v1 CronJob',
  'batch/v1 Job',
  'v1 Pod',
  'v1 Service',
  'v1 Secret',
  'v1 ConfigMap',
  'v1 PersistentVolumeClaim',
  'v1 ResourceQuota',
  'v1 LimitRange',
  'v1 Namespace',
  'v1 ServiceAccount',
  'autoscaling/v2 HorizontalPodAutoscaler',
  'networking.k8s.io/v1 Ingress',
  'networking.k8s.io/v1 NetworkPolicy',
  'policy/v1 PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1 Role',
  'rbac.authorization.k8s.io/v1 RoleBinding',
]
const ALL = Object.entries(table.kinds).flatMap(([apiVersion, kinds]) =>
  kinds.split(' ').flatMap(entry => {
    const [kind, type] = entry.split(':')
    return type ? [`${apiVersion} ${kind}`] : []
  }),
)
const QUANTITIES = [
  '500m',
  '1000m',
  '1',
  '1.5',
  '1Gi',
  '1.5Gi',
  '1024Mi',
  '0.1',
  '1e3',
  '100u',
  '0',
  '-1',
  '12E',
  '1500Ki',
  '3k',
  '0.5Mi',
  '+2',
  '00100',
  '1E2',
  '.5',
  '5.',
  '123456789n',
  '1Ti',
]
const TIMES = [
  '2024-01-31T12:00:00Z',
  '2024-01-31T12:00:00+02:00',
  '2024-01-31T12:00:00.123456Z',
  '2024-02-30T00:00:00Z',
  'soon',
]
const TEXTS = ['web', 'a-b', '', 'TCP', 'two words', '1', 'true', 'é', 'http', 'lines\nof text\n', 'x=y']
/** Without these kustomize itself fails, or nothing of the type is left to look at. */
const NEEDED = new Set(['name', 'containers', 'template', 'matchLabels'])
const IDENTITY = new Set(['apiVersion', 'kind', 'metadata'])

/** An object of a kind that Flux decodes into a Go type: any of its fields, in forms that the type takes or nearly so. */
export function typedObject(chance: Chance, name: string): Fields {
  const id = chance.is(65) ? chance.pick(COMMON) : chance.pick(ALL)
  const [apiVersion = '', kind = ''] = id.split(' ')
  const type = goTypeOf(apiVersion, kind)
  // one wrong value lets the whole object be as it is
  const odd = chance.is(15) ? 6 : 0
  const body = type !== 'no-object' && type?.type === 'struct' ? structOf(type.fields, chance, odd, 0, IDENTITY) : {}
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...chance.maybe(25, 'creationTimestamp', () => chance.pick<Value>([null, '2024-01-31T12:00:00Z'])),
      ...chance.maybe(25, 'labels', () => ({ app: 'web', ...chance.maybe(10, 'n', () => scalar(chance)) })),
      ...chance.maybe(20, 'annotations', () => ({ note: chance.pick(TEXTS) })),
      ...chance.maybe(5, 'generation', () => 3),
      ...chance.maybe(5, 'finalizers', () => ['x']),
      ...chance.maybe(4, 'unknown', () => 'x'),
    },
    ...body,
    ...chance.maybe(10, 'status', () => ({ replicas: 1 })),
  }
}

type StructFields = Extract<GoType, { type: 'struct' }>['fields']

const none: ReadonlySet<string> = new Set()

function structOf(fields: StructFields, chance: Chance, odd: number, depth: number, without = none): Fields {
  const share = depth === 0 ? 75 : 42 - 6 * depth
  const made: Fields = {}
  for (const [key, { value }] of fields) {
    if (!without.has(key) && (chance.is(share) || NEEDED.has(key))) made[key] = valueFor(value, chance, odd, depth + 1)
  }
  return chance.is(4) ? { ...made, unknownField: chance.pick<Value>(['x', 1, null, { a: 1 }, []]) } : made
}

function valueFor(type: GoType, chance: Chance, odd: number, depth: number): Value {
  if (chance.is(3)) return null
  if (chance.is(odd)) return chance.pick<Value>([scalar(chance), {}, [], 'x', 1.5])
  switch (type.type) {
    case 'string':
      return chance.pick(TEXTS)
    case 'bool':
      return chance.is(50)
    case 'int32':
    case 'int64':
      return chance.pick<Value>([0, 1, 80, 8080, -1, 2147483647, new Raw('4294967297'), new Raw('1.0'), new Raw('1e3')])
    case 'bytes':
      return chance.pick(['aGVsbG8=', '', 'YQ==', 'aGVs\nbG8=', 'not base64', 'YR=='])
    case 'pointer':
      return valueFor(type.of, chance, odd, depth)
    case 'list':
      return chance.list(0, depth > 4 ? 1 : 2, () => valueFor(type.of, chance, odd, depth))
    case 'map':
      return Object.fromEntries(
        chance
          .some(['a', 'b', 'cpu', 'memory'], depth > 4 ? 20 : 50)
          .map(key => [key, valueFor(type.of, chance, odd, depth)]),
      )
    case 'struct':
      return structOf(type.fields, chance, odd, depth)
    case 'own':
      return ownValue(type.name, chance)
  }
}

function ownValue(name: Extract<GoType, { type: 'own' }>['name'], chance: Chance): Value {
  if (name === 'Quantity') return chance.is(80) ? chance.pick(QUANTITIES) : chance.pick<Value>([1, 2.5, 0, 1000, 'x'])
  if (name === 'IntOrString') return chance.pick<Value>([80, 'http', '50%', 0, '', 1])
  if (name === 'Time' || name === 'MicroTime') return chance.pick(TIMES)
  return chance.pick<Value>([{ a: 1, b: [null, 'x'] }, {}, { kind: 'X', apiVersion: 'a/v1' }])
}
