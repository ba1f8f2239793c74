import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../src/kube/node.ts'
import { type Authorizer, authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { displayRbac } from '../../../../src/kube/rbac/binding.ts'
import {
  type AccessRequest,
  compactString,
  type PolicyRule,
  ruleAllows,
  type UserInfo,
} from '../../../../src/kube/rbac/policy-rule.ts'
import type { TestCluster } from '../../../../tools/envtest/start.ts'
import { inParallel, pathOf, review, startWithAggregation, whyNoCluster } from './live-cluster.ts'
import { plainObject, role } from './plain-object.ts'
import { Draw, NAMESPACES } from './random-world.ts'

const SEED = Number(process.env.RBAC_SEED ?? 20_261)
const QUESTIONS = Number(process.env.RBAC_QUESTIONS ?? 10_000)
const ROLES = 12
const missing = whyNoCluster()
if (missing) console.warn(missing)

let cluster: TestCluster
let authorizer: Authorizer

/** What a ClusterRole of the cluster allows now. */
async function liveRules(name: string): Promise<string[]> {
  const { body } = await cluster.request('GET', `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`)
  const rules = (body as { rules?: Partial<PolicyRule>[] | null }).rules ?? []
  const full = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  return rules.map(rule => compactString({ ...full, ...rule })).sort()
}

function ourRules(name: string): string[] {
  return (authorizer.rulesOf({ kind: 'ClusterRole', name }, '') ?? []).map(compactString).sort()
}

/** Waits until the controller has filled a role in as we would; what is there in the end is compared by the caller. */
async function settled(name: string): Promise<string[]> {
  for (const until = Date.now() + 20_000; Date.now() < until; ) {
    const rules = await liveRules(name)
    if (JSON.stringify(rules) === JSON.stringify(ourRules(name))) return rules
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  return liveRules(name)
}

describe(`the API server itself, seed ${SEED}`, () => {
  const objects: Json[] = []

  beforeAll(async () => {
    if (missing !== undefined) return
    cluster = await startWithAggregation(NAMESPACES)
    const draw = new Draw(SEED)
    objects.push(...draw.roles(ROLES), ...ring(), ...draw.bindings(14, ROLES))
    for (const object of objects) {
      const { status, body } = await cluster.request('POST', pathOf(object), object)
      expect(status, JSON.stringify(body)).toBe(201)
    }
    authorizer = authorizerOf(objects.map(plainObject))
  })
  afterAll(() => cluster?.stop())

  test('aggregated roles are filled in alike', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const names = ['admin', 'edit', 'view', ...Array.from({ length: 2 * ROLES }, (_, at) => `role-${at}`)]
    for (const name of names) expect(await settled(name), name).toEqual(ourRules(name))
  })

  test('a circle of aggregated roles holds no more than we say', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    for (const object of ring()) {
      const { name } = (object as { metadata: { name: string } }).metadata
      for (const rule of await liveRules(name)) expect(ourRules(name)).toContain(rule)
    }
  })

  test(`${QUESTIONS} random questions get its answer`, { timeout: 300_000 }, async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    // the authorizer of the API server watches: it must have seen the last binding
    await new Promise(resolve => setTimeout(resolve, 1000))
    const draw = new Draw(SEED + 1)
    const questions = Array.from({ length: QUESTIONS }, () => ({ user: draw.user(), request: draw.request() }))
    const answers = await inParallel(questions, ({ user, request }) => review(cluster, user, request))
    const wrong = questions.flatMap(({ user, request }, at) => {
      const ours = authorizer.authorize(user, request)
      const theirs = answers[at]!
      return ours.allowed === theirs.allowed && reasonHolds(user, request, theirs.reason)
        ? []
        : [{ user, request, theirs }]
    })
    expect(wrong).toEqual([])
    const allowed = answers.filter(answer => answer.allowed).length / QUESTIONS
    console.log(`${QUESTIONS} questions, ${Math.round(100 * allowed)} % allowed`)
    expect(allowed).toBeGreaterThan(0.1)
    expect(allowed).toBeLessThan(0.9)
  })
})

/** Three roles that select each other, all with rules of their own, and a plain one that leads into the circle. */
function ring(): Json[] {
  const rules = (resource: string) => [{ verbs: ['get'], apiGroups: ['ring.example.com'], resources: [resource] }]
  const links = ['a', 'b', 'c'].map((name, at, all) => {
    const metadata = { name: `ring-${name}`, labels: { ring: name } }
    const selectors = [{ matchLabels: { ring: all[(at + 1) % 3]! } }, { matchLabels: { ring: 'in' } }]
    return role('', metadata.name, rules(name), { metadata, aggregationRule: { clusterRoleSelectors: selectors } })
  })
  return [...links, role('', 'ring-in', rules('in'), { metadata: { name: 'ring-in', labels: { ring: 'in' } } })]
}

/** Whether the binding that the API server names is one that allows it for us too. */
function reasonHolds(user: UserInfo, request: AccessRequest, reason = ''): boolean {
  const named = /^RBAC: allowed by (\w+) "([^"]+)" of (\w+) "([^"]+)"/.exec(reason)
  if (!named) return true
  const [, kind = '', path = '', roleKind, roleName] = named
  const [name = '', namespace = ''] = path.split('/')
  const { grants } = authorizer.held(user, 'nonResourceURL' in request ? '' : (request.namespace ?? ''))
  return grants.some(
    ({ binding, rule }) =>
      displayRbac(binding) === displayRbac({ kind: kind as 'RoleBinding', namespace, name }) &&
      binding.roleRef.kind === roleKind &&
      binding.roleRef.name === roleName &&
      ruleAllows(rule, request),
  )
}
