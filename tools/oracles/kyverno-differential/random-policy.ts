import type { Json } from '../../../src/kube/node.ts'
import { CELS } from './cel-expressions.ts'
import { KINDS, type Random } from './random-fleet.ts'

type Fields = { [key: string]: Json }

const isMap = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES = ['pattern', 'pattern', 'anyPattern', 'deny', 'deny', 'foreach', 'cel', 'podSecurity'] as const
const OPERATORS = [
  'Equals',
  'NotEquals',
  'In',
  'AnyIn',
  'AllIn',
  'NotIn',
  'AnyNotIn',
  'AllNotIn',
  'GreaterThan',
  'GreaterThanOrEquals',
  'LessThan',
  'LessThanOrEquals',
  'DurationGreaterThan',
  'DurationLessThanOrEquals',
]
const VALUES: readonly Json[] = [
  'low',
  'high',
  'l*',
  '*',
  '?*',
  '',
  5,
  10,
  '10',
  1.5,
  '1-5',
  '5!-10',
  true,
  false,
  'true',
  '64Mi',
  '1h',
  '90s',
  3600,
  'dev',
  'ghcr.io/*',
  '1.2.3',
  null,
]
const PLAIN_VALUES = VALUES.filter(one => one !== null && one !== '')
const TEXT_VALUES = VALUES.filter(one => typeof one === 'string' && one !== '')
const QUERIES = [
  'request.object.metadata.name',
  'request.object.metadata.namespace',
  'request.namespace',
  "request.object.metadata.labels.team || 'none'",
  'request.object.metadata.labels.tier',
  "request.object.metadata.labels.app || ''",
  'request.object.kind',
  'request.object.data.level',
  "request.object.data.count || '0'",
  "request.object.data.size || '0'",
  "request.object.data.time || '0s'",
  "to_number(request.object.data.count || '0')",
  'request.object.spec.replicas',
  'length(request.object.spec.containers || `[]`)',
  'request.object.spec.containers[].image',
  "request.object.spec.containers[?starts_with(image, 'ghcr.io')].name",
  'request.object.spec.[containers, initContainers][].image',
  'request.object.spec.ports[].port',
  'request.object.spec.type',
  "contains(['apps', 'ops'], request.object.metadata.namespace)",
  'keys(request.object.data)',
  'request.object.metadata.labels | keys(@) | length(@)',
  'images.containers.*.registry',
  'images.containers.*.tag',
  'to_upper(request.object.metadata.name)',
  "split(request.object.metadata.name, '-')[0]",
  "regex_match('^web-', request.object.metadata.name)",
  "parse_json(request.object.data.json || '{}').a[1]",
  'truncate(request.object.metadata.name, `3`)',
  'base64_encode(request.object.metadata.name)',
  'max(request.object.spec.ports[].port)',
  'sum(request.object.spec.ports[].port)',
  'request.object.spec.hostNetwork || `false`',
  "semver_compare(request.object.data.level || '1.0.0', '>=1.2.0')",
  "divide('1h', '30m')",
  'add(request.object.spec.replicas || `0`, `1`)',
  "replace_all(request.object.metadata.name, '-', '_')",
  "join(',', request.object.spec.containers[].name)",
  'my',
  'request.object.spec.nothing.here',
  'request.oldObject.metadata.name',
  'request.userInfo.username',
  'request.userInfo.groups',
  'request.roles',
  'request.clusterRoles',
  'serviceAccountName',
  'serviceAccountNamespace',
]

/** A pattern made of an object: anchors, wildcards, operators and ranges where it has values. */
function patternOf(random: Random, value: Json, depth = 0): Json {
  if (Array.isArray(value))
    return value.length === 0 || random.chance(0.1) ? ['?*'] : [patternOf(random, random.pick(value), depth + 1)]
  if (!isMap(value)) return scalarPattern(random, value)
  const made: Fields = {}
  const entries = Object.entries(value)
  for (const [key, item] of entries) {
    if (!random.chance(entries.length > 2 ? 0.4 : 0.7)) continue
    made[anchored(random, key, item)] = depth > 4 ? '*' : patternOf(random, item, depth + 1)
  }
  if (random.chance(0.1)) made[anchored(random, 'absent', '')] = random.pick<Json>(['*', '?*', null, { x: '*' }])
  return made
}

function anchored(random: Random, key: string, value: Json): string {
  if (random.chance(0.6)) return key
  if (Array.isArray(value) && random.chance(0.4)) return `^(${key})`
  return random.pick([`(${key})`, `=(${key})`, `=(${key})`, `X(${key})`, `<(${key})`])
}

function scalarPattern(random: Random, value: Json): Json {
  const text = String(value)
  return random.pick<Json>([
    value,
    value,
    text,
    '*',
    '?*',
    `!${text}`,
    `${text.slice(0, 2)}*`,
    `!*${text.slice(-2)}`,
    `${text} | other`,
    'a | b',
    `!a & !${text}`,
    `>${typeof value === 'number' ? value - 1 : 5}`,
    '<=100',
    '>=64Mi',
    '<1Gi',
    '1-100',
    '10Mi-1Gi',
    '5!-10',
    '>30m',
    null,
    true,
    random.pick(VALUES),
  ])
}

const reference = (random: Random) => `{{ ${random.pick(QUERIES)} }}`

function condition(random: Random, element = ''): Fields {
  const key = element !== '' && random.chance(0.7) ? element : reference(random)
  const list = () => random.many<Json>(3, () => random.pick(TEXT_VALUES))
  const value: Json = random.chance(0.35) ? list() : random.chance(0.1) ? reference(random) : random.pick(PLAIN_VALUES)
  return {
    key: random.chance(0.93) ? key : random.pick(PLAIN_VALUES),
    operator: random.pick(OPERATORS),
    value,
    ...(random.chance(0.2) ? { message: 'no' } : {}),
  }
}

function conditions(random: Random, element = ''): Json {
  const some = () => random.many<Json>(2, () => condition(random, element))
  return random.pick<() => Json>([
    () => ({ any: some() }),
    () => ({ all: some() }),
    () => ({ any: some(), all: some() }),
  ])()
}

const POD_LOOPS: readonly (readonly [list: string, field: string])[] = [
  ['request.object.spec.containers', 'element.image'],
  ['request.object.spec.[containers, initContainers][]', 'element.name'],
  ['request.object.spec.volumes', 'element.name'],
]
const LOOPS: typeof POD_LOOPS = [
  ['request.object.spec.ports', 'element.port'],
  ['keys(request.object.data)', 'element'],
  ['items(request.object.data, `"k"`, `"v"`)', 'element.v'],
]

function loop(random: Random, kind: string, sample: Fields): Fields {
  const pod = kind === 'Pod'
  const [list, field] = random.pick(pod ? POD_LOOPS : LOOPS)
  const spec = sample.spec as Fields | undefined
  const items = (pod ? spec?.containers : spec?.ports) as Json[] | undefined
  const body: Fields =
    items && items.length > 0 && random.chance(0.5)
      ? { pattern: patternOf(random, random.pick(items)) }
      : { deny: { conditions: conditions(random, `{{ ${field} }}`) } }
  return {
    list,
    ...(random.chance(0.3) ? { preconditions: conditions(random, `{{ ${field} }}`) } : {}),
    ...(random.chance(0.15) ? { elementScope: random.chance(0.5) } : {}),
    ...body,
  }
}

const CONTROLS = [
  'Capabilities',
  'Seccomp',
  'Privileged Containers',
  'Host Namespaces',
  'Running as Non-root',
  'Volume Types',
  'Privilege Escalation',
  'HostPath Volumes',
  'Sysctls',
  'SELinux',
  '/proc Mount Type',
  'Host Ports',
  'Running as Non-root user',
]

function exclusion(random: Random): Fields {
  const controlName = random.pick(CONTROLS)
  return {
    controlName,
    ...(['Host Namespaces', 'Volume Types', 'HostPath Volumes', 'Sysctls'].includes(controlName)
      ? {}
      : { images: [random.pick(['*', 'nginx*', 'ghcr.io/*'])] }),
  }
}

function check(random: Random, kind: string, sample: Fields): Fields {
  const isPod = ['Pod', 'Deployment', 'CronJob'].includes(kind)
  const type = random.pick(TYPES.filter(one => one !== 'podSecurity' || isPod))
  const own = { message: random.pick(['no', 'no: {{ request.object.metadata.name }}', '{{ my }}']) }
  const { metadata, apiVersion: _, kind: __, ...content } = sample
  const pattern = () => patternOf(random, random.chance(0.3) ? { metadata: metadata ?? {} } : content)
  switch (type) {
    case 'pattern':
      return { ...own, pattern: pattern() }
    case 'anyPattern':
      return { ...own, anyPattern: random.many(3, pattern) }
    case 'deny':
      return { ...own, deny: { conditions: conditions(random) } }
    case 'foreach':
      return { ...own, foreach: random.many<Json>(2, () => loop(random, kind, sample)) }
    case 'cel':
      return { message: 'no', cel: { expressions: random.many<Json>(2, () => ({ expression: random.pick(CELS) })) } }
    case 'podSecurity':
      return {
        message: 'no',
        podSecurity: {
          level: random.pick(['baseline', 'restricted']),
          version: random.pick(['latest', 'v1.29', 'v1.24']),
          ...(random.chance(0.4) ? { exclude: random.many<Json>(2, () => exclusion(random)) } : {}),
        },
      }
  }
}

const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  Pod: ['Pod', 'v1/Pod', '*/Pod', 'P*'],
  Deployment: ['Deployment', 'apps/v1/Deployment', 'apps/*/Deployment', 'Deploy*'],
  CronJob: ['CronJob', 'batch/v1/CronJob'],
  ConfigMap: ['ConfigMap', 'v1/ConfigMap', '*'],
  Service: ['Service', 'v1/Service'],
  Namespace: ['Namespace'],
}

function resources(random: Random, kinds: readonly string[]): Fields {
  return {
    kinds: kinds.map(kind => random.pick(WRITTEN[kind]!)),
    ...random.some(
      {
        names: [random.pick(['web-*', '*-1', 'api-?', '*'])],
        namespaces: [random.pick(['apps', 'o*', '*', '!apps'])],
        selector: random.pick<Json>([
          { matchLabels: { app: 'web' } },
          { matchLabels: { 't*': '?*' } },
          { matchExpressions: [{ key: 'team', operator: random.pick(['In', 'NotIn']), values: ['dev'] }] },
          { matchExpressions: [{ key: 'tier', operator: random.pick(['Exists', 'DoesNotExist']) }] },
        ]),
        annotations: { note: random.pick(['*', 'low*']) },
        operations: random.pick<Json>([['CREATE'], ['UPDATE', 'DELETE'], ['CREATE', 'UPDATE']]),
        namespaceSelector: { matchLabels: { zone: random.pick(['a', 'b', '*']) } },
      },
      0.08,
    ),
  }
}

const SUBJECTS: readonly Json[] = [
  { kind: 'User', name: 'jane' },
  { kind: 'User', name: 'j*' },
  { kind: 'Group', name: 'devs' },
  { kind: 'ServiceAccount', name: 'web', namespace: 'apps' },
]

/** Who asks, in one filter of ten. */
const accounts = (random: Random): Fields =>
  random.some(
    {
      subjects: random.many<Json>(2, () => random.pick(SUBJECTS)),
      roles: [random.pick(['apps:dev', 'ops:*'])],
      clusterRoles: [random.pick(['view', 'e*', 'cluster-admin'])],
    },
    0.07,
  )

function block(random: Random, kinds: readonly string[]): Fields {
  const filters = () => random.many<Json>(2, () => ({ resources: resources(random, kinds), ...accounts(random) }))
  return random.pick<() => Fields>([
    () => ({ any: filters() }),
    () => ({ any: filters() }),
    () => ({ all: filters().slice(0, 1) }),
    () => ({ resources: resources(random, kinds), ...accounts(random) }),
  ])()
}

/** A random ClusterPolicy, or Policy where a namespace is given, whose patterns are made of the objects. */
export function randomPolicy(
  random: Random,
  name: string,
  objects: readonly Fields[],
  namespace: string | undefined,
): Fields {
  const rules = random
    .many<Json>(2, at => {
      const kind = random.chance(0.9) ? String(random.pick(objects).kind) : random.pick(KINDS)
      const samples = objects.filter(one => one.kind === kind)
      const sample = samples.length > 0 ? random.pick(samples) : { spec: {} }
      return {
        name: `r${at}`,
        match: block(random, random.chance(0.2) ? [kind, random.pick(KINDS)] : [kind]),
        ...(random.chance(0.2) ? { exclude: block(random, [kind]) } : {}),
        context: [
          {
            name: 'my',
            variable: random.pick<Json>([
              { jmesPath: 'request.object.metadata.name' },
              { value: { a: 'x' }, jmesPath: 'a' },
              { jmesPath: 'request.object.data.absent', default: 'low' },
              { value: 'dev' },
            ]),
          },
        ],
        ...(random.chance(0.25) ? { preconditions: conditions(random) } : {}),
        ...(random.chance(0.1) ? { celPreconditions: [{ name: 'n', expression: random.pick(CELS) }] } : {}),
        validate: check(random, kind, sample),
      }
    })
    .map(rule => {
      const { celPreconditions, ...rest } = rule as Fields
      // only rules of CEL may have them
      return celPreconditions !== undefined && isMap(rest.validate) && rest.validate.cel !== undefined
        ? { ...rest, celPreconditions }
        : rest
    })
  const annotations = random.some(
    {
      'pod-policies.kyverno.io/autogen-controllers': random.pick(['none', 'Deployment', 'Deployment,CronJob']),
      'policies.kyverno.io/scored': 'false',
    },
    0.12,
  )
  return {
    apiVersion: 'kyverno.io/v1',
    kind: namespace === undefined ? 'ClusterPolicy' : 'Policy',
    metadata: { name, annotations, ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      validationFailureAction: random.pick(['Enforce', 'Audit']),
      background: false,
      ...(random.chance(0.1) ? { applyRules: 'One' } : {}),
      rules,
    },
  }
}

/** A random PolicyException from a policy. */
export function randomException(random: Random, name: string, { metadata }: Fields): Fields {
  const { name: own, namespace } = metadata as Fields
  const policy = namespace === undefined ? String(own) : `${namespace}/${own}`
  const kinds = [random.pick(KINDS)]
  return {
    apiVersion: 'kyverno.io/v2',
    kind: 'PolicyException',
    metadata: { name, namespace: 'kyverno' },
    spec: {
      exceptions: [{ policyName: policy, ruleNames: random.pick<Json>([['r0'], ['*'], ['r0', 'autogen-r0'], ['r1']]) }],
      match: { any: [{ resources: resources(random, kinds) }] },
      ...(random.chance(0.3) ? { conditions: conditions(random) } : {}),
      ...(random.chance(0.3) ? { podSecurity: [exclusion(random)] } : {}),
    },
  }
}
