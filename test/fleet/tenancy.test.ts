import { expect, test } from 'vitest'
import { evaluationOf, fleetOf } from './fleet-of.ts'
import { FLEET_URL, fleetFiles, miniFleet } from './mini-fleet.ts'

const CONFIG = '.github/bailiwick.yaml'
const OTHER = 'https://github.com/grafana/dashboards'

const namespace = (name: string, labels = '') => `apiVersion: v1
kind: Namespace
metadata: {name: ${name}, labels: {${labels}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: other, namespace: ${name}}
spec: {interval: 1m, url: ${OTHER}, ref: {branch: main}}
---
`
const follower = (name: string, where: string, more = '') => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: ${where}}
spec:
  interval: 5m
  prune: true
  path: ./deploy
  sourceRef: {kind: GitRepository, name: other}
${more}---
`
const account = (name: string, where: string) => `apiVersion: v1
kind: ServiceAccount
metadata: {name: ${name}, namespace: ${where}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ${name}, namespace: ${where}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: ${name}, namespace: ${where}}]
---
`
const CONTENT = {
  url: OTHER,
  files: {
    'deploy/kustomization.yaml': 'resources: [a.yaml]\n',
    'deploy/a.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: made-there}\n',
  },
}

/** A fleet whose controllers impersonate nobody where nothing names an account, with one more file of the platform. */
function fleetWith(more: string, others: Record<string, string> = {}, tenants = true) {
  const given = miniFleet({
    fleet: {
      'clusters/staging/flux-system/kustomization.yaml': 'resources: [gotk-components.yaml, gotk-sync.yaml]\n',
      'tenants/kustomization.yaml': `resources: [${tenants ? 'dev-team.yaml, ops-team.yaml, ' : ''}more.yaml]\n`,
      'clusters/staging/tenants.yaml': fleetFiles['clusters/staging/tenants.yaml']!.replace(
        '  serviceAccountName: kustomize-controller\n',
        '',
      ),
      'tenants/more.yaml': more,
      ...others,
    },
  })
  return { ...given, sources: [...given.sources!, CONTENT] }
}

const nodeIn = (given: ReturnType<typeof fleetWith>, key: string) => fleetOf(given).nodes.find(node => node.key === key)
const unconfined = (given: ReturnType<typeof fleetWith>, base?: ReturnType<typeof fleetWith>) => {
  const { violations, warnings } = evaluationOf(given, base ? { base } : {}).verdict
  return [...violations, ...warnings]
    .filter(one => one.rule === 'unconfined-source' && one.state !== 'fixed')
    .map(({ level, state, object }) => `${state} ${level} ${object.namespace}/${object.name}`)
}

test('a namespace is not a tenant’s because a Kustomization there follows another repository', () => {
  const given = fleetWith(namespace('monitoring') + follower('boards', 'monitoring'), {}, false)
  expect(nodeIn(given, 'staging/monitoring/boards')!.tenant).toBeUndefined()
  expect(fleetOf(given).tenants).toEqual([])
  const { verdict } = evaluationOf(given)
  expect([verdict.result, verdict.violations]).toEqual(['pass', []])
  expect(unconfined(given)).toEqual(['new warning monitoring/boards'])
  expect(verdict.warnings[0]!.message).toContain(`"${OTHER}" with the rights of Flux's controller (cluster-admin)`)
})

test('an account that acts there for another repository makes it a tenant’s, in any order', () => {
  const free = follower('a-free', 'monitoring')
  const held = follower('held', 'monitoring', '  serviceAccountName: boards\n')
  for (const content of [free + held, held + free]) {
    const given = fleetWith(account('boards', 'monitoring') + namespace('monitoring') + content)
    expect(nodeIn(given, 'staging/monitoring/held')!.tenant).toBe('monitoring')
    expect(nodeIn(given, 'staging/monitoring/a-free')!.tenant).toBe('monitoring')
    const violations = evaluationOf(given).verdict.violations.filter(one => one.node === 'staging/monitoring/a-free')
    expect(violations.map(one => one.rule)).toEqual(expect.arrayContaining(['sa-required', 'namespace-ownership']))
  }
})

test('a default account of the cluster’s lockdown is an account', () => {
  const given = miniFleet({
    fleet: {
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, more.yaml]\n',
      'tenants/more.yaml': namespace('monitoring') + follower('boards', 'monitoring'),
    },
  })
  const all = fleetOf({ ...given, sources: [...given.sources!, CONTENT] })
  expect(all.nodes.find(node => node.key === 'staging/monitoring/boards')!.tenant).toBe('monitoring')
})

test('one more repository with all rights is a violation where the cluster has tenants, an existing one a warning', () => {
  const content = namespace('monitoring') + follower('boards', 'monitoring')
  const [before, after] = [fleetWith(namespace('monitoring')), fleetWith(content)]
  expect(unconfined(after, before)).toEqual(['new violation monitoring/boards'])
  expect(unconfined(after, after)).toEqual(['standing warning monitoring/boards'])
  const [alone, noTenants] = [fleetWith(namespace('monitoring'), {}, false), fleetWith(content, {}, false)]
  expect(unconfined(noTenants, alone)).toEqual(['new warning monitoring/boards'])
  // the first tenants of a fleet are no reason to block what stands
  expect(unconfined(after, noTenants)).toEqual(['standing warning monitoring/boards'])
  const moved = fleetWith(content.replace(OTHER, 'https://github.com/grafana/more'))
  expect(unconfined(moved, after)).toEqual(['new violation monitoring/boards'])
})

test('who loses the account in a change does not become the platform without a word', () => {
  const held = follower('boards', 'monitoring', '  serviceAccountName: boards\n')
  const all = account('boards', 'monitoring') + namespace('monitoring')
  const free = follower('boards', 'monitoring')
  const { verdict } = evaluationOf(fleetWith(all + free), { base: fleetWith(all + held) })
  expect(verdict.result).toBe('fail')
  const rules = verdict.violations.filter(one => one.state === 'new').map(one => one.rule)
  expect(rules).toEqual(expect.arrayContaining(['namespace-confinement', 'unconfined-source']))
})

test('the fleet’s own content and flux-system are the platform’s, and not mentioned', () => {
  const own = namespace('monitoring').replace(OTHER, FLEET_URL)
  expect(unconfined(fleetWith(own + follower('boards', 'monitoring')))).toEqual([])
  const system = fleetWith(`${namespace('flux-system').split('---\n')[1]}---\n${follower('boards', 'flux-system')}`)
  expect(nodeIn(system, 'staging/flux-system/boards')!.source.url).toBe(OTHER)
  expect(unconfined(system)).toEqual([])
})

const declared = (entry: string) => ({ [CONFIG]: `tenants:\n  - ${entry}\n` })

test.each([
  ['by its namespace', '', '{name: observers, namespaces: [monitoring], platform: true}'],
  ['by the name that it would have', '', '{name: monitoring, platform: true}'],
  ['by its label', 'toolkit.fluxcd.io/tenant: observers', '{name: observers, platform: true}'],
  ['by its label of Capsule', 'capsule.clastix.io/tenant: observers', '{name: observers, platform: true}'],
])('a tenant that is declared to be the platform is it: %s', (_how, label, entry) => {
  const held = follower('held', 'monitoring', '  serviceAccountName: boards\n')
  const content = `${namespace('monitoring', label)}${account('boards', 'monitoring')}${held}${follower('free', 'monitoring')}`
  expect(nodeIn(fleetWith(content), 'staging/monitoring/held')!.tenant).toBe(label ? 'observers' : 'monitoring')
  const given = fleetWith(content, declared(entry))
  const fleet = fleetOf(given)
  expect(fleet.tenants.map(one => one.name)).toEqual(['dev-team', 'ops-team'])
  expect(fleet.nodes.filter(node => node.namespace === 'monitoring').map(node => [node.tenant, node.error])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ])
  const { verdict } = evaluationOf(given)
  // its account may act in its own namespace only, whoever it belongs to
  expect([...verdict.violations, ...verdict.warnings].map(({ rule, identity }) => [rule, identity])).toEqual([
    ['account-cannot-apply', 'system:serviceaccount:monitoring:boards'],
  ])
  // what a change itself declares counts for nothing yet
  const base = fleetWith(content)
  const changed = evaluationOf(given, { base }).verdict
  expect(changed.tenants.map(one => one.name)).toContain(label ? 'observers' : 'monitoring')
})

test('a declared platform takes no namespace from another tenant', () => {
  const entry = declared('{name: observers, namespaces: [apps], platform: true}')
  const given = fleetWith(namespace('monitoring'), entry)
  expect(nodeIn(given, 'staging/apps/dev-team')!.tenant).toBe('dev-team')
  const { violations } = evaluationOf(given).verdict
  expect(violations.map(one => [one.rule, one.message])).toEqual([
    [
      'namespace-ownership',
      expect.stringContaining('labeled for tenant "dev-team", but .github/bailiwick.yaml assigns it to the platform'),
    ],
  ])
})

test('a declared platform that the fleet does not have is listed', () => {
  const { verdict } = evaluationOf(fleetWith(namespace('monitoring'), declared('{name: observers, platform: true}')))
  expect(verdict.warnings.map(one => one.rule)).toEqual(['config-unused'])
})
