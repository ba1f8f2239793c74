import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import type { Tree } from '../../../src/git/tree.ts'
import { editedTree } from '../../../src/tenants/offboard/edited-tree.ts'
import { planOffboarding } from '../../../src/tenants/offboard/plan.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { pullRequestText } from '../../../src/tenants/onboard/pull-request-text.ts'
import { fleetAt } from '../../../src/tenants/onboard/tenant-layout.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { acmeFleet } from './fleets.ts'

const ARGS = ['ops-team', '--repo', 'https://github.com/acme/ops-team', '--namespace', 'ops', '--role', 'admin']
const URL = 'https://github.com/acme/fleet'
const RBAC = 'tenants/base/dev-team/rbac.yaml'
const INFRASTRUCTURE = 'infrastructure/capsule.yaml'
const TENANT = `apiVersion: capsule.clastix.io/v1beta1
kind: Tenant
metadata:
  name: dev-team
spec:
  owners:
  - kind: ServiceAccount
    name: system:serviceaccount:apps:dev-team
`
const CONFIGURATION = `# who Capsule looks at
apiVersion: capsule.clastix.io/v1beta1
kind: CapsuleConfiguration
metadata:
  name: default
spec:
  userGroups:
  # the tenants
  - system:serviceaccounts:apps # dev-team
  forceTenantPrefix: false
`

const textOf = (tree: Tree, path: string) => new TextDecoder().decode(tree.read(path))

/** The fleet with a Capsule Tenant for dev-team, on both clusters; `configuration` is applied to both, too. */
function fleetWith(tenant: string, configuration?: string): Tree {
  const files = new Map([[RBAC, `${textOf(acmeFleet(), RBAC).trimEnd()}\n---\n${tenant}`]])
  if (configuration !== undefined) {
    const list = 'infrastructure/kustomization.yaml'
    files.set(list, textOf(acmeFleet(), list).replace('resources:\n', 'resources:\n  - capsule.yaml\n'))
    files.set(INFRASTRUCTURE, configuration)
  }
  return overlayTree(acmeFleet(), files)
}

function onboarding(tree: Tree, clusters: readonly string[] = ['staging']) {
  const request = parseOnboardArguments([...ARGS, ...clusters.flatMap(name => ['--cluster', name])])
  const plan = planOnboarding(request, tree, URL, 'main')
  return { plan, body: pullRequestText(plan).body, file: (path: string) => fileOf(plan, path) }
}

const fileOf = ({ files }: OnboardPlan, path: string) => files.find(one => one.path === path)?.content

const SUBJECTS = [{ kind: 'ServiceAccount', name: 'ops-team', namespace: 'ops' }]

describe('a fleet whose CapsuleConfiguration is in git', () => {
  const tree = fleetWith(TENANT, CONFIGURATION)
  const { plan, body, file } = onboarding(tree)

  test('the Tenant and the rights at the proxy are in the pull request, and nothing else', () => {
    const [tenant, role, binding, ...others] = parseAllDocuments(file('tenants/base/ops-team/capsule.yaml')!).map(
      document => document.toJS(),
    )
    expect(tenant).toEqual({
      apiVersion: 'capsule.clastix.io/v1beta1',
      kind: 'Tenant',
      metadata: { labels: { 'toolkit.fluxcd.io/tenant': 'ops-team' }, name: 'ops-team' },
      spec: {
        additionalRoleBindings: [{ clusterRoleName: 'admin', subjects: SUBJECTS }],
        owners: [{ kind: 'ServiceAccount', name: 'system:serviceaccount:ops:ops-team' }],
      },
    })
    expect(role.rules).toEqual([
      {
        apiGroups: [''],
        resources: ['users'],
        verbs: ['impersonate'],
        resourceNames: ['system:serviceaccount:ops:ops-team'],
      },
    ])
    expect([binding.roleRef.name, binding.subjects]).toEqual([role.metadata.name, SUBJECTS])
    // Capsule itself lets its users create and patch namespaces
    expect(others).toEqual([])
    expect(file('tenants/base/ops-team/rbac.yaml')).not.toContain('gotk:')
    expect(file('tenants/base/ops-team/kustomization.yaml')).toContain('  - capsule.yaml\n')
    expect(body).toContain('`capsule.yaml` has the Tenant `ops-team`')
  })

  test('Capsule looks at its accounts from now on; the rest of the file stays', () => {
    const line = '  - system:serviceaccounts:apps # dev-team\n'
    expect(file(INFRASTRUCTURE)).toBe(CONFIGURATION.replace(line, `${line}  - system:serviceaccounts:ops\n`))
  })

  test('our own check has no violation', () => {
    const after = overlayTree(tree, new Map(plan.files.map(({ path, content }) => [path, content])))
    const [before, now] = [fleetAt(tree, URL, 'main'), fleetAt(after, URL, 'main')]
    const { verdict } = evaluateFleet(now, { base: before, revisionSet: '' })
    expect(verdict.violations.filter(({ state }) => state === 'new').map(({ rule }) => rule)).toEqual([])
    // without the group there is one
    const without = new Map(plan.files.map(({ path, content }) => [path, content]))
    without.delete(INFRASTRUCTURE)
    const missing = evaluateFleet(fleetAt(overlayTree(tree, without), URL, 'main'), { base: before, revisionSet: '' })
    expect(missing.verdict.violations.map(({ rule }) => rule)).toContain('capsule-group-missing')
  })

  test('the same again gives no files', () => {
    const after = overlayTree(tree, new Map(plan.files.map(({ path, content }) => [path, content])))
    expect(onboarding(after).plan.files).toEqual([])
  })

  test('the account is the one by which Flux acts where nothing names one', () => {
    const flag = (path: string, text: string) => overlayTree(tree, new Map([[path, text]]))
    const root = 'clusters/staging/flux-system/kustomization.yaml'
    const named = flag(
      root,
      textOf(tree, root).replace(/--default-service-account=[a-z-]+/, '--default-service-account=reconciler'),
    )
    const { plan, body, file } = onboarding(named)
    expect(plan.request.account).toBe('reconciler')
    expect(file('tenants/base/ops-team/capsule.yaml')).toContain('name: system:serviceaccount:ops:reconciler')
    expect(body).toContain('kubectl create secret generic reconciler-kubeconfig --namespace=ops')
    expect(onboarding(tree).plan.request.account).toBeUndefined()
  })

  test('where capsule-addon-fluxcd runs, the account has its annotations, and the addon makes the rights', () => {
    const account = 'kind: ServiceAccount\nmetadata:\n'
    const annotated = textOf(tree, RBAC).replace(
      account,
      `${account}  annotations:\n    capsule.addon.fluxcd/enabled: "true"\n    capsule.addon.fluxcd/kubeconfig-global: "true"\n`,
    )
    const addon = overlayTree(tree, new Map([[RBAC, annotated]]))
    const { plan, body, file } = onboarding(addon)
    const kinds = (path: string) => parseAllDocuments(file(path)!).map(document => document.toJS())
    const [, written] = kinds('tenants/base/ops-team/rbac.yaml')
    expect(written.metadata.annotations).toEqual({
      'capsule.addon.fluxcd/enabled': 'true',
      'capsule.addon.fluxcd/kubeconfig-global': 'true',
    })
    expect(kinds('tenants/base/ops-team/rbac.yaml').map(({ kind }) => kind)).toEqual(['Namespace', 'ServiceAccount'])
    expect(kinds('tenants/base/ops-team/capsule.yaml').map(({ kind }) => kind)).toEqual(['Tenant'])
    expect(file('tenants/base/ops-team/sync.yaml')).toContain('name: ops-team-kubeconfig')
    expect(body).toContain('capsule-addon-fluxcd makes the Secret ops/ops-team-kubeconfig')
    expect(body).not.toContain('kubectl create token')
    const after = overlayTree(addon, new Map(plan.files.map(({ path, content }) => [path, content])))
    expect(onboarding(after).plan.files).toEqual([])
  })
})

describe('the first Tenant of a cluster with a CapsuleConfiguration', () => {
  const RELEASE = `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: addon
  namespace: flux-system
spec:
  chart:
    spec:
      chart: capsule-addon-fluxcd
      sourceRef: {kind: HelmRepository, name: capsule}
`
  const kinds = (text = '') => parseAllDocuments(text).map(document => document.toJS().kind)

  test('is what the recipe needs', () => {
    const { body, file } = onboarding(fleetWith('', CONFIGURATION))
    const text = file('tenants/base/ops-team/capsule.yaml')!
    expect(kinds(text)).toEqual(['Tenant', 'ClusterRole', 'ClusterRoleBinding'])
    expect(text).toContain('apiVersion: capsule.clastix.io/v1beta2')
    expect(file('tenants/base/ops-team/sync.yaml')).toContain('key: kubeconfig')
    expect(file(INFRASTRUCTURE)).toContain('  - system:serviceaccounts:ops\n')
    expect(body).toContain('kubectl create token ops-team --namespace=ops')
  })

  const OCI = `${RELEASE.slice(0, RELEASE.indexOf('  chart:'))}  chartRef: {kind: OCIRepository, name: addon}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: addon
  namespace: flux-system
spec:
  interval: 1h
  url: oci://ghcr.io/projectcapsule/charts/capsule-addon-fluxcd
`

  test.each([
    ['by a chart', RELEASE],
    ['by an OCIRepository', OCI],
  ])('leaves the rights to the addon where it is released %s', (_, release) => {
    const { file } = onboarding(fleetWith('', `${CONFIGURATION}${release}`))
    expect(kinds(file('tenants/base/ops-team/capsule.yaml'))).toEqual(['Tenant'])
    expect(file('tenants/base/ops-team/rbac.yaml')).toContain('capsule.addon.fluxcd/enabled: "true"')
  })
})

describe('the kubeconfig for the proxy', () => {
  const SYNC = 'tenants/base/dev-team/sync.yaml'
  const through = (tree: Tree, key = 'kubeconfig') => {
    const ref = `  kubeConfig: {secretRef: {name: dev-team-kubeconfig, key: ${key}}}\n`
    const text = textOf(tree, SYNC).replace('kind: Kustomization', 'kind: KUSTOMIZATION')
    const at = text.indexOf('spec:\n', text.indexOf('KUSTOMIZATION')) + 'spec:\n'.length
    const edited = `${text.slice(0, at)}${ref}${text.slice(at)}`.replace('KUSTOMIZATION', 'Kustomization')
    return overlayTree(tree, new Map([[SYNC, edited]]))
  }

  test('is named as the other tenants name theirs; our own check has no violation', () => {
    const tree = through(fleetWith(TENANT, CONFIGURATION))
    const { plan, body, file } = onboarding(tree)
    const [, kustomization] = parseAllDocuments(file('tenants/base/ops-team/sync.yaml')!).map(one => one.toJS())
    expect(kustomization.spec.kubeConfig).toEqual({ secretRef: { name: 'ops-team-kubeconfig', key: 'kubeconfig' } })
    expect(body).toContain('It is not applied until the Secret exists.')
    const after = overlayTree(tree, new Map(plan.files.map(({ path, content }) => [path, content])))
    const [before, now] = [fleetAt(tree, URL, 'main'), fleetAt(after, URL, 'main')]
    const { verdict } = evaluateFleet(now, { base: before, revisionSet: '' })
    expect(verdict.violations.filter(({ state }) => state === 'new')).toEqual([])
    expect(now.nodes.find(({ name }) => name === 'ops-team')).toMatchObject({ cluster: 'staging' })
    expect(onboarding(after).plan.files).toEqual([])
  })

  test('is not named where the others do not', () => {
    const { body, file } = onboarding(fleetWith(TENANT, CONFIGURATION))
    expect(file('tenants/base/ops-team/sync.yaml')).not.toContain('kubeConfig')
    expect(body).toContain('Then add to the Kustomization in `sync.yaml`')
  })
})

describe('what is left to do by hand', () => {
  test.each([
    ['no CapsuleConfiguration', undefined],
    [
      'a list in one line',
      CONFIGURATION.replace(/userGroups:\n.*\n.*\n/, 'userGroups: [system:serviceaccounts:apps]\n'),
    ],
    ['no list', CONFIGURATION.replace(/ {2}userGroups:\n.*\n.*\n/, '')],
  ])('%s: the objects and the group are in the text', (_, configuration) => {
    const { body, file } = onboarding(fleetWith(TENANT, configuration))
    expect(file('tenants/base/ops-team/capsule.yaml')).toBeUndefined()
    expect(body).toContain('⚠️ `staging`: tenants there are Capsule Tenants, and this pull request does not make one')
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(body) ?? []
    expect(parseAllDocuments(yaml).map(document => document.toJS().kind)).toEqual([
      'Tenant',
      'ClusterRole',
      'ClusterRoleBinding',
    ])
    expect(body).toContain('`system:serviceaccounts:ops`')
  })

  test('the token, which git cannot hold', () => {
    const { body } = onboarding(fleetWith(TENANT, CONFIGURATION))
    for (const words of ['--duration=24h', 'secretRef: {name: ops-team-kubeconfig']) expect(body).toContain(words)
  })
})

test('a kind of the same name in another group is not Capsule', () => {
  const ofMinio = (text: string) => text.replace('capsule.clastix.io', 'minio.min.io')
  const other = fleetWith(ofMinio(TENANT), ofMinio(CONFIGURATION))
  const { body, file } = onboarding(other)
  expect([body.includes('Capsule'), file(INFRASTRUCTURE)]).toEqual([false, undefined])
})

/** The fleet with ops-team, and what is left when both changes of its offboarding are merged. */
function offboarded(tree: Tree, edit = (files: Map<string, string>) => files) {
  const { plan } = onboarding(tree)
  const after = overlayTree(tree, edit(new Map(plan.files.map(({ path, content }) => [path, content]))))
  const request = { tenant: 'ops-team', clusters: [] }
  const first = planOffboarding(request, after, URL, 'main')
  const middle = editedTree(after, new Map(first.files.map(({ path, content }) => [path, content])))
  const rest = planOffboarding(request, middle, URL, 'main')
  const end = editedTree(middle, new Map(rest.files.map(({ path, content }) => [path, content])))
  return { first, rest, end, middle }
}

test('offboarding takes all of it away again, and nothing of others', () => {
  const { first, rest, end, middle } = offboarded(fleetWith(TENANT, CONFIGURATION))
  expect([first.stage, rest.stage]).toEqual(['workloads', 'rest'])
  // Capsule looks at the account as long as it is there
  expect(textOf(middle, INFRASTRUCTURE)).toContain('system:serviceaccounts:ops')
  expect([textOf(end, INFRASTRUCTURE), rest.notes]).toEqual([CONFIGURATION, []])
  const gone = rest.objects.flatMap(({ names }) => names)
  expect(gone.filter(name => /^(?:Tenant|Cluster)/.test(name)).sort()).toEqual([
    'ClusterRole ops-ops-team-impersonator',
    'ClusterRoleBinding ops-ops-team-impersonator',
    'Tenant ops-team',
  ])
})

test('offboarding takes the role by which an account impersonates itself, also where it has no label of the tenant', () => {
  const path = 'tenants/base/ops-team/capsule.yaml'
  const unlabelled = (files: Map<string, string>) =>
    new Map(files).set(path, files.get(path)!.replace(/ {2}labels:\n.*\n( {2}name: ops-ops-team-impersonator)/g, '$1'))
  const { rest, end } = offboarded(fleetWith(TENANT, CONFIGURATION), unlabelled)
  expect(rest.objects.flatMap(({ names }) => names)).toContain('ClusterRole ops-ops-team-impersonator')
  expect(end.entry(path)).toBeUndefined()
})

describe('what offboarding leaves in the CapsuleConfiguration', () => {
  const OTHER = `---
apiVersion: capsule.clastix.io/v1beta1
kind: Tenant
metadata:
  name: research
spec:
  owners:
  - kind: Group
    name: system:serviceaccounts:ops
`
  const withPeople = CONFIGURATION.replace(
    '  forceTenantPrefix',
    '  - ops-people\n  - capsule.clastix.io\n  forceTenantPrefix',
  )
  const people = (files: Map<string, string>) => {
    const path = 'tenants/base/ops-team/capsule.yaml'
    const owners = '  owners:\n'
    return new Map(files).set(
      path,
      files.get(path)!.replace(owners, `${owners}  - kind: Group\n    name: ops-people\n`),
    )
  }

  test('a group that owns the Tenant of somebody else, too', () => {
    const { rest, end } = offboarded(fleetWith(TENANT, CONFIGURATION), files =>
      new Map(files).set(RBAC, `${textOf(fleetWith(TENANT), RBAC)}${OTHER}`),
    )
    expect(textOf(end, INFRASTRUCTURE)).toContain('  - system:serviceaccounts:ops\n')
    expect(rest.notes).toEqual([])
  })

  test('a group of people, with a note', () => {
    const { rest, end } = offboarded(fleetWith(TENANT, withPeople), people)
    expect(textOf(end, INFRASTRUCTURE)).toBe(withPeople)
    expect(rest.notes).toEqual([expect.stringContaining('default still lists ops-people')])
  })

  test('entries of `users`, written over several lines, go as well', () => {
    const users =
      '  users:\n  - kind: User\n    name: alice\n  - kind: ServiceAccount\n    name: system:serviceaccount:ops:ops-team\n  - name: bob\n    kind: User\n'
    const { end } = offboarded(fleetWith(TENANT, `${CONFIGURATION}${users}`))
    const left = '  users:\n  - kind: User\n    name: alice\n  - name: bob\n    kind: User\n'
    expect(textOf(end, INFRASTRUCTURE)).toBe(`${CONFIGURATION}${left}`)
  })

  test('the last entry of a list, and one in brackets, are left to do by hand', () => {
    const users = '  users:\n  - {kind: ServiceAccount, name: "system:serviceaccount:ops:ops-team"}\n'
    const { rest, end } = offboarded(fleetWith(TENANT, `${CONFIGURATION}${users}`))
    expect(textOf(end, INFRASTRUCTURE)).toBe(`${CONFIGURATION}${users}`)
    expect(rest.notes).toEqual([
      'Remove system:serviceaccount:ops:ops-team from spec.users of the CapsuleConfiguration default by hand.',
    ])
  })

  test('what a cluster still has that the tenant does not leave', () => {
    const tree = fleetWith(TENANT, CONFIGURATION)
    const { plan } = onboarding(tree, ['staging', 'production'])
    const after = overlayTree(tree, new Map(plan.files.map(({ path, content }) => [path, content])))
    const request = { tenant: 'ops-team', clusters: ['staging'] }
    const first = planOffboarding(request, after, URL, 'main')
    const middle = editedTree(after, new Map(first.files.map(({ path, content }) => [path, content])))
    const rest = planOffboarding(request, middle, URL, 'main')
    expect([rest.stage, rest.files.map(({ path }) => path).includes(INFRASTRUCTURE)]).toEqual(['rest', false])
  })
})
