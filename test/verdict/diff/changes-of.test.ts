import { describe, expect, test } from 'vitest'
import { type Changes, isUnchanged } from '../../../src/verdict/diff/changes.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { type Files, fleetOf, type Given } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const changes = (base: Given, head: Given): Changes => changesOf(fleetOf(base), fleetOf(head))
/** What happens to each object, in short. */
const happens = ({ nodes }: Changes) =>
  nodes.flatMap(({ name, objects }) =>
    objects.map(({ id, change, fate, node, forced }) =>
      [name, change, id.kind, id.name, fate, node, forced].filter(one => one !== undefined).join(' '),
    ),
  )
const configMap = (name: string, more = '') =>
  `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: apps\n${more}`
const DEV = fleetFiles['tenants/dev-team.yaml']!
const spec = (text: string): Files => ({ 'tenants/dev-team.yaml': `${DEV}${text}` })
const child = (name: string, more = '') =>
  `---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: apps}\nspec:\n  serviceAccountName: dev-team\n  interval: 5m\n  sourceRef: {kind: GitRepository, name: dev-team}\n  path: ./${name}\n  prune: true\n${more}`
const folder = (name: string, content: string): Files => ({ [`${name}/all.yaml`]: content })

test('a fleet beside itself has no changes', () => {
  const fleet = fleetOf(miniFleet())
  expect(isUnchanged(changesOf(fleet, fleet))).toBe(true)
  expect(isUnchanged(changes(miniFleet(), miniFleet()))).toBe(true)
})

describe('what becomes of an object that is rendered no more', () => {
  const gone = (options: { kustomization?: string; head?: string; metadata?: string }) => {
    const dev = withResource(configMap('gone', options.metadata))
    const fleet = spec(options.kustomization ?? '')
    const after = spec(options.head ?? options.kustomization ?? '')
    return happens(changes(miniFleet({ fleet, dev }), miniFleet({ fleet: after }))).filter(one =>
      one.includes('ConfigMap'),
    )
  }
  const unpruned: Files = { 'tenants/dev-team.yaml': DEV.replace('prune: true', 'prune: false') }

  test.each([
    ['Flux deletes it', {}, 'deleted'],
    ['an annotation keeps it', { metadata: '  annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}\n' }, 'kept'],
    ['a label keeps it', { metadata: '  labels: {kustomize.toolkit.fluxcd.io/prune: disabled}\n' }, 'kept'],
    [
      'an object that is not reconciled stays',
      { metadata: '  annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}\n' },
      'kept',
    ],
    ['nothing happens while it is suspended', { head: '  suspend: true\n' }, 'suspended'],
  ])('%s', (_what, options, fate) => {
    expect(gone(options)).toEqual([`dev-team removed ConfigMap gone ${fate}`])
  })

  test('it is orphaned where nothing is pruned', () => {
    const [base, head] = [
      miniFleet({ fleet: unpruned, dev: withResource(configMap('gone')) }),
      miniFleet({ fleet: unpruned }),
    ]
    expect(happens(changes(base, head))).toEqual(['dev-team removed ConfigMap gone orphaned'])
  })

  test('it moves where another Kustomization of the cluster renders it now, with what changes in it', () => {
    const one = {
      ...withResource(child('one') + child('two')),
      ...folder('one', configMap('a', 'data: {x: "1"}\n')),
      ...folder('two', configMap('b')),
    }
    const two = {
      ...one,
      ...folder('one', configMap('c')),
      ...folder('two', configMap('b') + configMap('a', 'data: {x: "2"}\n')),
    }
    const found = changes(miniFleet({ dev: one }), miniFleet({ dev: two }))
    expect(happens(found)).toEqual([
      'one removed ConfigMap a moved staging/apps/two',
      'one added ConfigMap c',
      'two moved ConfigMap a staging/apps/one',
    ])
    expect(found.totals).toMatchObject({ deleted: 0, moved: 1 })
    expect(found.nodes[1]!.objects[0]!.fields).toEqual([{ path: 'data.x', change: 'changed', was: '"1"', now: '"2"' }])
  })
})

describe('a Kustomization that is gone', () => {
  const dev = (more: string) => ({ ...withResource(child('one', more)), ...folder('one', configMap('a')) })

  test.each([
    ['', 'deleted'],
    ['  deletionPolicy: Orphan\n', 'orphaned'],
    ['  deletionPolicy: WaitForTermination\n', 'deleted'],
    ['  suspend: true\n', 'orphaned'],
  ])('takes its objects with it as its spec says: %j', (more, fate) => {
    const found = changes(miniFleet({ dev: dev(more) }), miniFleet({ dev: folder('one', configMap('a')) }))
    expect(happens(found)).toEqual(['dev-team removed Kustomization one deleted', `one removed ConfigMap a ${fate}`])
    expect(found.nodes.map(({ change }) => change)).toEqual(['changed', 'removed'])
  })

  test('stays, with its objects, where its own parent does not prune', () => {
    const fleet = { 'tenants/dev-team.yaml': DEV.replace('prune: true', 'prune: false') }
    const found = changes(miniFleet({ fleet, dev: dev('') }), miniFleet({ fleet, dev: folder('one', configMap('a')) }))
    expect(happens(found)).toEqual(['dev-team removed Kustomization one orphaned', 'one removed ConfigMap a orphaned'])
  })
})

describe('what cannot be rendered', () => {
  const broken = { 'deploy/kustomization.yaml': 'resources: [gone.yaml]\n' }
  const parent = { ...withResource(child('one')), ...folder('one', configMap('a')) }

  test('is not compared, and nothing below it is taken for gone', () => {
    const found = changes(miniFleet({ dev: parent }), miniFleet({ dev: { ...parent, ...broken } }))
    expect(found.nodes.map(({ node, unknown, counts }) => [node, unknown, counts.removed])).toEqual([
      ['staging/apps/dev-team', 'after', 0],
    ])
    expect(found.totals.deleted).toBe(0)
  })

  test('is said of what could not be rendered before as well', () => {
    const found = changes(miniFleet({ dev: { ...parent, ...broken } }), miniFleet({ dev: parent }))
    expect(found.nodes.map(({ node, unknown, counts }) => [node, unknown, counts.added])).toEqual([
      ['staging/apps/dev-team', 'before', 0],
      ['staging/apps/one', 'before', 0],
    ])
  })

  test('a tenant is not gone because the platform cannot be rendered', () => {
    const found = changes(
      miniFleet(),
      miniFleet({ fleet: { 'tenants/kustomization.yaml': 'resources: [nowhere.yaml]\n' } }),
    )
    expect([found.tenants, found.totals.deleted]).toEqual([[], 0])
  })
})

test('a cluster that comes or goes is told as such: nothing of it is deleted by Flux', () => {
  const renamed = Object.fromEntries(
    Object.entries(fleetFiles).map(([path, text]) => [
      path.replace('clusters/staging', 'clusters/lab'),
      text.replaceAll('clusters/staging', 'clusters/lab'),
    ]),
  )
  const found = changes(miniFleet(), { ...miniFleet(), fleet: renamed })
  expect(found.clusters).toEqual([
    { name: 'lab', change: 'added' },
    { name: 'staging', change: 'removed' },
  ])
  expect(found.totals.deleted).toBe(0)
})

describe('what the API server does not let anybody change', () => {
  const binding = (roleName: string, force = '') =>
    `apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: apps${force}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${roleName}}\nsubjects: [{kind: ServiceAccount, name: bot, namespace: apps}]\n`

  test.each([
    ['', false],
    [', annotations: {kustomize.toolkit.fluxcd.io/force: Enabled}', true],
  ])('is replaced only where Flux may force it: %j', (force, forced) => {
    const of = (role: string) => miniFleet({ dev: withResource(binding(role, force)) })
    const found = changes(of('view'), of('edit'))
    expect(happens(found)).toEqual([`dev-team replaced RoleBinding b ${forced}`])
  })

  test.each([
    ['a label of an immutable ConfigMap', configMap('a', '  labels: {a: b}\nimmutable: true\n'), 'a: b', 'a: c'],
    [
      'a suspended Job, where it runs',
      '---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: apps}\nspec: {suspend: true, template: {spec: {nodeName: x}}}\n',
      'nodeName: x',
      'nodeName: y',
    ],
  ])('changes, and the API server allows it: %s', (_name, text, from, to) => {
    const of = (one: string) => miniFleet({ dev: withResource(one) })
    expect(happens(changes(of(text), of(text.replace(from, to))))).toEqual([
      expect.stringMatching(/^dev-team changed /),
    ])
  })

  test('an immutable ConfigMap', () => {
    const of = (value: string) =>
      miniFleet({ dev: withResource(configMap('a', `immutable: true\ndata: {x: "${value}"}\n`)) })
    expect(happens(changes(of('1'), of('2')))).toEqual(['dev-team replaced ConfigMap a false'])
  })
})

describe('who may do more, and who less', () => {
  const grant = (account: string, role = 'view') =>
    `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: ${account}, namespace: apps}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${role}}\nsubjects: [{kind: ServiceAccount, name: ${account}, namespace: apps}]\n`
  const role = (rules: string) =>
    `---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: work, namespace: apps}\nrules: ${rules}\n`
  const PODS = '[{apiGroups: [""], resources: [pods], verbs: [get]}]'
  const MORE = '[{apiGroups: [""], resources: [pods], verbs: [get, list]}]'
  const dev = (...texts: string[]) => miniFleet({ dev: withResource(texts.join('')) })
  const rights = (base: Given, head: Given) =>
    changes(base, head).rights.map(({ tenant, subject, namespace, gains, loses, unknown }) => [
      tenant,
      subject,
      namespace,
      gains.map(one => `${one.verbs.join()} ${one.resource}`),
      loses.map(one => `${one.verbs.join()} ${one.resource}`),
      unknown,
    ])
  const BOT = ['dev-team', 'ServiceAccount apps/bot', 'apps']

  test('by a role that says more, or less', () => {
    const [small, large] = [dev(role(PODS), grant('bot', 'work')), dev(role(MORE), grant('bot', 'work'))]
    expect(rights(small, large)).toEqual([[...BOT, ['list pods'], [], []]])
    expect(rights(large, small)).toEqual([[...BOT, [], ['list pods'], []]])
  })

  test('by a binding that comes, goes, or is called another name', () => {
    expect(rights(dev(role(PODS)), dev(role(PODS), grant('bot', 'work')))).toEqual([[...BOT, ['get pods'], [], []]])
    const other = grant('bot', 'work').replace(
      'name: bot, namespace: apps}\nroleRef',
      'name: other, namespace: apps}\nroleRef',
    )
    expect(rights(dev(role(PODS), grant('bot', 'work')), dev(role(PODS), other))).toEqual([])
  })

  test('nothing is gained by who holds it already', () => {
    expect(rights(dev(role(PODS)), dev(role(PODS), grant('dev-team', 'work')))).toEqual([])
  })

  test('a role that nobody renders is not known', () => {
    expect(rights(dev(role(PODS)), dev(role(PODS), grant('bot', 'nowhere')))).toEqual([
      [...BOT, [], [], ['Role nowhere']],
    ])
  })

  test('by an account that another Kustomization acts as', () => {
    const fleet = { 'tenants/dev-team.yaml': DEV.replace('serviceAccountName: dev-team', 'serviceAccountName: other') }
    const found = changes(miniFleet(), miniFleet({ fleet }))
    expect(found.nodes.find(({ tenant }) => tenant === 'dev-team')?.identity).toEqual({
      was: 'ServiceAccount apps/dev-team',
      now: 'ServiceAccount apps/other',
    })
  })
})
