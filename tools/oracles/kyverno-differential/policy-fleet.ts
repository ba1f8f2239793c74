import { nodeOf } from '../../../src/fleet/model/kustomization-spec.ts'
import type { Json, MapNode } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { type LoadedTest, runTest, type TestRow } from '../kyverno-tests/run-test.ts'
import { readTest } from '../kyverno-tests/test-file.ts'
import type { TestUser } from '../kyverno-tests/test-world.ts'
import { Random, randomObjects } from './random-fleet.ts'
import { randomException, randomPolicy } from './random-policy.ts'
import { randomCelException, randomValidatingPolicy } from './random-validating-policy.ts'

type Fields = { [key: string]: Json }

/** Policies, and what they are asked about. */
export interface PolicyFleet {
  readonly policies: readonly Fields[]
  readonly objects: readonly Fields[]
  readonly exceptions: readonly Fields[]
  readonly operation: string
  readonly namespaces: readonly Fields[]
  /** Who asks, as `--userinfo` takes it; absent: nobody in particular. */
  readonly user?: {
    readonly userInfo: { readonly username: string; readonly groups: readonly string[] }
    readonly roles: readonly string[]
    readonly clusterRoles: readonly string[]
  }
}

const USERS: readonly NonNullable<PolicyFleet['user']>[] = [
  {
    userInfo: { username: 'jane', groups: ['devs', 'system:authenticated'] },
    roles: ['apps:dev'],
    clusterRoles: ['view'],
  },
  {
    userInfo: { username: 'system:serviceaccount:apps:web', groups: ['system:serviceaccounts'] },
    ...{ roles: [], clusterRoles: ['edit', 'view'] },
  },
]

export function randomPolicyFleet(seed: number): PolicyFleet {
  const random = new Random(seed)
  const objects = randomObjects(random, 8)
  const policies = Array.from({ length: 8 }, (_, at) => {
    const namespace = random.chance(0.25) ? random.pick(['apps', 'ops']) : undefined
    return random.chance(0.35)
      ? randomValidatingPolicy(random, `p${at}`, namespace)
      : randomPolicy(random, `p${at}`, objects, namespace)
  })
  const exceptions = random.chance(0.4)
    ? random.many(2, at => {
        const policy = policies[at]!
        return isOfRules(policy)
          ? randomException(random, `e${at}`, policy)
          : randomCelException(random, `e${at}`, policy)
      })
    : []
  const namespaces = random.chance(0.6)
    ? [
        { name: 'apps', labels: { zone: 'a' } },
        { name: 'ops', labels: { zone: 'b' } },
      ]
    : []
  const operation = random.pick(['CREATE', 'CREATE', 'UPDATE', 'DELETE'])
  return {
    policies,
    objects,
    exceptions,
    operation,
    namespaces,
    user: random.pick(USERS),
  }
}

const isOfRules = ({ apiVersion }: Fields) => apiVersion === 'kyverno.io/v1'

const ORIGIN = { repository: '', file: 'test', line: 1, column: 1 }
const objectOf = (json: Json): KubeObject => ({ root: nodeOf(json, ORIGIN) as MapNode, trail: [] })

const testUser = ({ userInfo: { username: name, groups }, ...roles }: NonNullable<PolicyFleet['user']>): TestUser => ({
  user: { name, groups },
  ...roles,
})

type Answers = Map<string, Pick<TestRow, 'actual' | 'message'>>

/** Our answers by policy, rule and object, as `bailiwick policy test` gives them. */
export function answersHere(fleet: PolicyFleet): Answers {
  const { policies, objects, exceptions, operation, namespaces, user } = fleet
  const rules = policies.flatMap(policy => {
    const names = isOfRules(policy) ? ((policy.spec as Fields).rules as Fields[]).map(rule => String(rule.name)) : ['']
    return names.map(rule => [String((policy.metadata as Fields).name), rule] as const)
  })
  const asked = rules.flatMap(([policy, rule]) => objects.map(object => ({ policy, rule, object })))
  const results = asked.map(({ policy, rule, object: { kind, metadata } }) => ({
    ...{ policy, rule, result: 'pass' },
    ...{ kind: String(kind), resources: [String((metadata as Fields).name)] },
  }))
  const values = { globalValues: { 'request.operation': operation }, namespaceSelector: [...namespaces] }
  const test = readTest(nodeOf({ values, results }, ORIGIN), ORIGIN)
  const loaded: LoadedTest = {
    ...{ test, values: test.values!, user: user && testUser(user), cluster: undefined, contextResources: [] },
    ...{ images: new Map(), globalContext: new Map() },
    policies: policies.map(objectOf),
    resources: objects.map(objectOf),
    objects: exceptions.map(objectOf),
  }
  const answers: Answers = new Map()
  for (const [at, { actual, message }] of runTest(loaded).entries()) {
    const { policy, rule, object } = asked[at]!
    const { name, namespace = object.kind === 'Namespace' ? '' : 'default' } = object.metadata as Fields
    const key = `${policy}/${rule} ${object.kind} ${namespace}/${name}`
    if (actual !== 'skip') answers.set(key, { actual: actual === 'warn' ? 'fail' : actual, message })
  }
  return answers
}
