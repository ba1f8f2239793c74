import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/kube/node.ts'
import type { Authorizer } from '../../../src/kube/rbac/authorizer.ts'
import { authorizerOf } from '../../../src/kube/rbac/authorizer-of.ts'
import type { ApplyChange } from '../../../src/kube/rbac/apply-requests.ts'
import { confirmApply } from '../../../src/kube/rbac/confirm-apply.ts'
import { confirmWrite } from '../../../src/kube/rbac/confirm-write.ts'
import { userInfo } from '../../../src/kube/rbac/groups-of.ts'
import { readBinding } from '../../../src/kube/rbac/read-binding.ts'
import { readRole } from '../../../src/kube/rbac/read-role.ts'
import type { Answer } from '../../envtest/admin-request.ts'
import type { TestCluster } from '../../envtest/start.ts'
import { inParallel, pathOf, startWithAggregation, whyNoCluster } from './live-cluster.ts'
import { malformed } from './malformed-policy.ts'
import { binding, plainObject, role } from './plain-object.ts'
import { Draw, NAMESPACES } from './random-world.ts'

const SEED = Number(process.env.RBAC_SEED ?? 20_261)
const WRITES = Number(process.env.RBAC_WRITES ?? 600)
const ROLES = 8
const missing = whyNoCluster()

let cluster: TestCluster
let authorizer: Authorizer
let objects: Json[]

/** Authors: all may write roles and bindings; what they may grant differs. */
const AUTHORS = [
  'alice',
  'bob',
  'gotk:apps:reconciler',
  'system:serviceaccount:apps:dev',
  'binder',
  'escalator',
  'root',
]

function authors(): Json[] {
  const rbac = { apiGroups: ['rbac.authorization.k8s.io'] }
  const kinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']
  const names = ['role-0', 'role-1', 'missing', 'view', 'written']
  return [
    role('', 'writer', [{ ...rbac, resources: kinds, verbs: ['create', 'patch', 'get'] }]),
    role('', 'binder', [{ ...rbac, resources: ['roles', 'clusterroles'], verbs: ['bind'], resourceNames: names }]),
    role('', 'escalator', [
      { ...rbac, resources: ['roles', 'clusterroles'], verbs: ['escalate'], resourceNames: names },
    ]),
    binding('', 'writer', 'ClusterRole writer', ...AUTHORS.map(name => `User ${name}`)),
    binding('', 'binder', 'ClusterRole binder', 'User binder'),
    binding('apps', 'binder', 'ClusterRole binder', 'User alice'),
    binding('', 'escalator', 'ClusterRole escalator', 'User escalator'),
    binding('apps', 'escalator', 'ClusterRole escalator', 'User bob'),
    binding('', 'root', 'ClusterRole cluster-admin', 'User root'),
    // may write one ConfigMap by its name, which a server-side apply asks for even when it is new
    role('', 'named', [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch', 'create'], resourceNames: ['a'] },
    ]),
    binding('apps', 'named', 'ClusterRole named', 'User named'),
    binding('apps', 'reconciler', 'ClusterRole cluster-admin', 'User gotk:apps:reconciler', 'ServiceAccount dev'),
  ]
}

beforeAll(async () => {
  if (missing !== undefined) return console.warn(missing)
  cluster = await startWithAggregation(NAMESPACES)
  const draw = new Draw(SEED)
  objects = [...authors(), ...draw.roles(ROLES), ...draw.bindings(8, ROLES)]
  for (const object of objects) {
    const { status, body } = await cluster.request('POST', pathOf(object), object)
    expect(status, JSON.stringify(body)).toBe(201)
  }
  for (const namespace of ['apps', 'other']) {
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'standing' } })
  }
  authorizer = authorizerOf(objects.map(plainObject))
  await new Promise(resolve => setTimeout(resolve, 3000))
})
afterAll(() => cluster?.stop())

const message = ({ body }: Answer) => (body as { message?: string }).message ?? ''

function named(object: Json): string {
  return (object as { metadata: { name: string } }).metadata.name
}

/** A dry run passes every check and changes nothing, so that each write meets the same cluster. */
function post(object: Json, user?: string): Promise<Answer> {
  return cluster.request(
    'POST',
    `${pathOf(object)}?dryRun=All`,
    object,
    user === undefined ? {} : { impersonate: user },
  )
}

function apply(path: string, object: Json, impersonate: string): Promise<Answer> {
  const options = { impersonate, contentType: 'application/apply-patch+yaml' }
  return cluster.request('PATCH', `${path}/${named(object)}?dryRun=All&force=true&fieldManager=test`, object, options)
}

describe(`writes to a real API server, seed ${SEED}`, () => {
  test(`${WRITES} random roles and bindings are let through or refused alike`, async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const draw = new Draw(SEED + 2)
    const writes = Array.from({ length: WRITES }, () => {
      const namespace = draw.one(['', ...NAMESPACES])
      const by = draw.one(['create', 'apply'] as const)
      return { object: randomWrite(draw, namespace), by, author: draw.one(AUTHORS) }
    })
    const answers = await inParallel(writes, ({ object, by, author }) =>
      by === 'create' ? post(object, author) : apply(pathOf(object), object, author),
    )
    const seen = { allowed: 0, escalation: 0, 'missing-role': 0, immutable: 0, invalid: 0 }
    const wrong = writes.flatMap(({ object, by, author }, at) => {
      const ours = confirmWrite(authorizer, userInfo(author), plainObject(object), { by })
      const theirs = answers[at]!
      seen[ours?.reason ?? 'allowed']++
      const same = ours ? theirs.status >= 400 && sameText(ours.message, message(theirs)) : theirs.status < 300
      return same ? [] : [{ author, by, object, ours: ours?.message, theirs: message(theirs), status: theirs.status }]
    })
    expect(wrong).toEqual([])
    console.log(seen)
    expect(Math.min(seen.allowed, seen.escalation, seen['missing-role'])).toBeGreaterThan(WRITES / 100)
  })

  test('what stands already may be written again by anybody, but not changed', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const standing = objects.filter(object => /^(?:role|binding)-/.test(named(object)))
    const cases = standing.flatMap(object => {
      const { metadata, ...rest } = object as { metadata: { [key: string]: Json } }
      const labelled = { ...rest, metadata: { ...metadata, labels: { team: 'a' } } }
      const owned = { ...rest, metadata: { ...metadata, finalizers: ['example.com/wait'] } }
      return [object, labelled, owned].map(written => ({ before: object, written }))
    })
    const author = 'alice'
    const answers = await inParallel(cases, ({ written }) => apply(pathOf(written), written, author))
    const wrong = cases.flatMap(({ before, written }, at) => {
      const options = { before: plainObject(before) }
      const ours = confirmWrite(authorizer, userInfo(author), plainObject(written), options)
      const theirs = answers[at]!
      return (ours === undefined) === theirs.status < 300
        ? []
        : [{ written, ours: ours?.message, theirs: message(theirs) }]
    })
    expect(wrong).toEqual([])
    expect(answers.filter(({ status }) => status === 403).length).toBeGreaterThan(10)
  })

  test('a standing binding keeps its role', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const standing = objects.filter(object => /^binding-/.test(named(object)))
    for (const author of ['root', 'bob']) {
      const answers = await inParallel(standing, before => apply(pathOf(before), other(before), author))
      const wrong = standing.flatMap((before, at) => {
        const options = { before: plainObject(before) }
        const ours = confirmWrite(authorizer, userInfo(author), plainObject(other(before)), options)?.message
        const theirs = message(answers[at]!)
        return ours !== undefined && sameText(ours, theirs) ? [] : [{ author, ours, theirs }]
      })
      expect(wrong).toEqual([])
    }
  })

  test('what it refuses as malformed grants nothing, and nothing else is refused', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const cases = malformed()
    const answers = await inParallel(cases, object => post(object))
    const wrong = cases.flatMap((object, at) => {
      const read = readRole(plainObject(object)) ?? readBinding(plainObject(object))
      return (read !== undefined) === (answers[at]!.status === 201) ? [] : [{ object, theirs: message(answers[at]!) }]
    })
    expect(wrong).toEqual([])
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(5)
  })

  test('an object is applied and pruned with the rights that we ask for', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const cases = appliedObjects().flatMap(object => APPLIERS.map(user => ({ object, user })))
    const wrong = await inParallel(cases, async ({ object, user }) => {
      const before = await cluster.request('GET', urlOf(object))
      const change = before.status === 200 ? 'change' : 'add'
      const ours = [...refused(user, object, change), ...refused(user, object, 'remove')]
      const answers = [
        await cluster.request('GET', urlOf(object), undefined, { impersonate: user }),
        await apply(urlOf(object).replace(/\/[^/]*$/, ''), object, user),
        await cluster.request('DELETE', `${urlOf(object)}?dryRun=All`, undefined, { impersonate: user }),
      ]
      const theirs = answers.filter(({ status }) => status === 403).map(message)
      // the one who may neither patch nor create is told the first
      const first = ours.filter(
        (text, at) => !/ cannot create /.test(text) || !/ cannot patch /.test(ours[at - 1] ?? ''),
      )
      return JSON.stringify([...new Set(first)]) === JSON.stringify(theirs) ? [] : [{ user, ours, theirs }]
    })
    expect(wrong.flat()).toEqual([])
  })
})

function other(binding: Json): Json {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'another "role"' }
  return { ...(binding as { [key: string]: Json }), roleRef }
}

const APPLIERS = ['gotk:apps:reconciler', 'system:serviceaccount:apps:dev', 'root', 'nobody', 'named']

function appliedObjects(): Json[] {
  const configMap = (namespace: string, name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
  })
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return [
    configMap('apps', 'a'),
    configMap('other', 'a'),
    configMap('apps', 'standing'),
    configMap('other', 'standing'),
    namespace('apps'),
    namespace('other'),
    namespace('fresh'),
  ]
}

function urlOf(object: Json): string {
  const { kind, metadata } = object as { kind: string; metadata: { namespace?: string; name: string } }
  return kind === 'Namespace'
    ? `/api/v1/namespaces/${metadata.name}`
    : `/api/v1/namespaces/${metadata.namespace}/configmaps/${metadata.name}`
}

function refused(user: string, object: Json, change: ApplyChange): string[] {
  const custom = { scopes: new Map(), plurals: new Map() }
  return confirmApply(authorizer, userInfo(user), plainObject(object), change, custom).map(refusal => refusal.message)
}

function randomWrite(draw: Draw, namespace: string): Json {
  const name = draw.one(['written', 'role-0'])
  if (draw.chance(0.5)) {
    const more =
      namespace === '' && draw.chance(0.2) ? { aggregationRule: { clusterRoleSelectors: draw.selectors() } } : {}
    return role(namespace, `${name}-new`.replace('written-new', 'written'), draw.rules(namespace === ''), more)
  }
  return binding(namespace, name, draw.roleRef(namespace, ROLES), ...draw.subjects(namespace).slice(0, 2))
}

/** Equal, but for the order in which the missing roles of the author's own bindings are told. */
function sameText(ours: string, theirs: string): boolean {
  const sorted = (text: string) => [...text].sort().join('')
  return ours === theirs || (ours.includes('resolution errors: [[') && sorted(ours) === sorted(theirs))
}
