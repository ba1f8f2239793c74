import type { Json } from '../../../src/kube/node.ts'
import { CELS, PASSING_CELS } from './cel-expressions.ts'
import type { KINDS, Random } from './random-fleet.ts'

type Fields = { [key: string]: Json }

const RESOURCES: Readonly<Record<(typeof KINDS)[number], readonly [group: string, version: string, plural: string]>> = {
  Pod: ['', 'v1', 'pods'],
  Deployment: ['apps', 'v1', 'deployments'],
  CronJob: ['batch', 'v1', 'cronjobs'],
  ConfigMap: ['', 'v1', 'configmaps'],
  Service: ['', 'v1', 'services'],
  Namespace: ['', 'v1', 'namespaces'],
}

function resourceRule(random: Random, kind: (typeof KINDS)[number]): Fields {
  const [group, version, plural] = RESOURCES[kind]
  return {
    apiGroups: [random.chance(0.1) ? '*' : group],
    apiVersions: [random.chance(0.2) ? '*' : version],
    operations: random.pick<Json>([['CREATE', 'UPDATE'], ['CREATE'], ['*'], ['CREATE', 'UPDATE', 'DELETE']]),
    resources: random.chance(0.2) ? [plural, random.pick(Object.values(RESOURCES))[2]] : [plural],
    ...(random.chance(0.1) ? { resourceNames: ['web-1', 'api-2'] } : {}),
    ...(random.chance(0.1) ? { scope: random.pick(['*', 'Namespaced']) } : {}),
  }
}

const selector = (random: Random, key: string): Json =>
  random.pick<Json>([
    { matchLabels: { [key]: random.pick(['a', 'web', 'dev']) } },
    { matchExpressions: [{ key, operator: random.pick(['In', 'NotIn']), values: ['a', 'web'] }] },
    { matchExpressions: [{ key, operator: random.pick(['Exists', 'DoesNotExist']) }] },
  ])

const named = (random: Random, expressions: readonly string[]): Json[] =>
  random.many<Json>(2, at => ({ name: `n${at}`, expression: random.pick(expressions) }))

/** A random ValidatingPolicy, or NamespacedValidatingPolicy where a namespace is given. */
export function randomValidatingPolicy(random: Random, name: string, namespace: string | undefined): Fields {
  const kind = random.pick(['Pod', 'Pod', 'Deployment', 'CronJob', 'ConfigMap', 'Service', 'Namespace'] as const)
  const matchConstraints = {
    resourceRules: [resourceRule(random, kind)],
    ...(random.chance(0.1) ? { objectSelector: selector(random, 'app') } : {}),
    ...(random.chance(0.1) && namespace === undefined ? { namespaceSelector: selector(random, 'zone') } : {}),
    ...(random.chance(0.1)
      ? { excludeResourceRules: [{ ...resourceRule(random, kind), resourceNames: ['web-1'] }] }
      : {}),
  }
  const hasVariables = random.chance(0.4)
  const validation = (): Fields => ({
    expression: hasVariables && random.chance(0.5) ? 'variables.n0 == true' : random.pick(CELS),
    ...random.pick<Fields>([{ message: 'no' }, { messageExpression: "'no ' + object.metadata.name" }, {}]),
  })
  return {
    apiVersion: random.pick(['policies.kyverno.io/v1', 'policies.kyverno.io/v1beta1']),
    kind: namespace === undefined ? 'ValidatingPolicy' : 'NamespacedValidatingPolicy',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      matchConstraints,
      validationActions: random.pick<Json>([['Deny'], ['Audit'], ['Deny']]),
      ...(random.chance(0.3) ? { failurePolicy: random.pick(['Fail', 'Ignore']) } : {}),
      ...(random.chance(0.3) ? { matchConditions: named(random, PASSING_CELS) } : {}),
      ...(hasVariables ? { variables: named(random, CELS) } : {}),
      ...(random.chance(0.15)
        ? { autogen: { podControllers: { controllers: random.pick<Json>([[], ['deployments'], ['cronjobs']]) } } }
        : {}),
      validations: random.many<Json>(2, validation),
    },
  }
}

/** A random exception of policies.kyverno.io. */
export function randomCelException(random: Random, name: string, policy: Fields): Fields {
  return {
    apiVersion: 'policies.kyverno.io/v1beta1',
    kind: 'PolicyException',
    metadata: { name, namespace: 'kyverno' },
    spec: {
      policyRefs: [{ name: (policy.metadata as Fields).name!, kind: policy.kind! }],
      ...(random.chance(0.8) ? { matchConditions: named(random, PASSING_CELS) } : {}),
    },
  }
}
