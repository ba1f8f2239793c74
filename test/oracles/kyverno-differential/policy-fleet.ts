import { nodeOf } from '../../../src/fleet/model/synthetic.ts'
import type { Json, MapNode } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { type LoadedTest, runTest, type TestRow } from '../../../src/policy/testing/run-test.ts'
import { readTest } from '../../../src/policy/testing/test-file.ts'
import { Random, randomObjects } from './random-fleet.ts'
import { randomException, randomPolicy } from './random-policy.ts'

type Fields = { [key: string]: Json }

/** Policies, and what they are asked about. */
export interface PolicyFleet {
  readonly policies: readonly Fields[]
  readonly objects: readonly Fields[]
  readonly exceptions: readonly Fields[]
  readonly operation: string
  readonly namespaces: readonly Fields[]
}

export function randomPolicyFleet(seed: number): PolicyFleet {
  const random = new Random(seed)
  const objects = randomObjects(random, 8)
  const policies = Array.from({ length: 8 }, (_, at) => randomPolicy(random, `p${at}`, objects))
  const exceptions = random.chance(0.4) ? random.many(2, at => randomException(random, `e${at}`, `p${at}`)) : []
  const namespaces = random.chance(0.6)
    ? [
        { name: 'apps', labels: { zone: 'a' } },
        { name: 'ops', labels: { zone: 'b' } },
      ]
    : []
  return { policies, objects, exceptions, operation: random.pick(['CREATE', 'CREATE', 'UPDATE', 'DELETE']), namespaces }
}

const ORIGIN = { repository: '', file: 'test', line: 1, column: 1 }
const objectOf = (json: Json): KubeObject => ({ root: nodeOf(json, ORIGIN) as MapNode, trail: [] })

type Answers = Map<string, Pick<TestRow, 'actual' | 'message'>>

/** Our answers by policy, rule and object, as `bailiwick policy test` gives them. */
export function answersHere(fleet: PolicyFleet): Answers {
  const { policies, objects, exceptions, operation, namespaces } = fleet
  const rules = policies.flatMap(({ metadata, spec }) =>
    ((spec as Fields).rules as Fields[]).map(rule => [String((metadata as Fields).name), String(rule.name)] as const),
  )
  const asked = rules.flatMap(([policy, rule]) => objects.map(object => ({ policy, rule, object })))
  const results = asked.map(({ policy, rule, object: { kind, metadata } }) => ({
    ...{ policy, rule, result: 'pass' },
    ...{ kind: String(kind), resources: [String((metadata as Fields).name)] },
  }))
  const values = { globalValues: { 'request.operation': operation }, namespaceSelector: [...namespaces] }
  const test = readTest(nodeOf({ values, results }, ORIGIN), ORIGIN)
  const loaded: LoadedTest = {
    ...{ test, values: test.values!, user: undefined, cluster: undefined, contextResources: [] },
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
