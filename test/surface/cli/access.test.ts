import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, scratch, write } from './run-main.ts'
import { twoTenants } from './two-tenants.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const SHARED = join(import.meta.dirname, '../../../../shared/fleets')
const ADDRESS = 'https://github.com/acme/'
const FLEET = ['fleet', '--url', `${ADDRESS}fleet`, '--repo', `${ADDRESS}dev-team=${ACME}/dev-team`]

interface Row {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly identity: string
  readonly tenant: string
  readonly repository: { readonly url: string; readonly notSeen?: string }
  readonly grants: readonly { readonly role: string; readonly clusterWide: boolean }[]
  readonly by?: { readonly account: string; readonly way: string; readonly grant: { readonly role: string } }
}

interface Access {
  readonly cluster: string
  readonly tenant: string
  readonly changers: readonly Row[]
  readonly others: readonly { readonly subject: string; readonly role: string }[]
  readonly unknown: readonly string[]
}

async function accessTo(dir: string, ...args: string[]): Promise<Access[]> {
  const { code, stdout, stderr } = await run(dir, 'access', ...args, '-o', 'json')
  expect([code, stderr]).toEqual([0, ''])
  return (JSON.parse(stdout) as { clusters: Access[] }).clusters
}

const names = ({ changers }: Access) => changers.map(({ namespace, name }) => `${namespace}/${name}`)

test('who can change a namespace: repository, Kustomization, account, role', async () => {
  const found = await accessTo(ACME, 'apps', ...FLEET)
  expect(found.map(({ cluster, tenant }) => [cluster, tenant])).toEqual([
    ['production', 'dev-team'],
    ['staging', 'dev-team'],
  ])
  for (const one of found) {
    expect(names(one)).toEqual(
      expect.arrayContaining(['flux-system/flux-system', 'flux-system/tenants', 'apps/dev-team']),
    )
    const own = one.changers.find(({ name }) => name === 'dev-team')
    expect(own).toMatchObject({
      repository: { url: `${ADDRESS}dev-team`, ref: 'main', path: `./${one.cluster}` },
      identity: 'system:serviceaccount:apps:dev-team',
      impersonated: true,
      grants: [{ role: 'ClusterRole cluster-admin', clusterWide: false }],
    })
    const platform = one.changers.find(({ name }) => name === 'tenants')
    expect(platform?.grants[0]).toMatchObject({ role: 'ClusterRole cluster-admin', clusterWide: true })
    expect(one.others.map(({ subject }) => subject)).toEqual(['Group system:masters', 'User gotk:apps:reconciler'])
  }
})

test('a tenant is not in the list of another namespace', async () => {
  const [staging] = await accessTo(ACME, 'sandbox', '--cluster', 'staging', ...FLEET)
  expect(names(staging!)).not.toContain('apps/dev-team')
  expect(names(staging!)).toContain('flux-system/infrastructure')
})

test('people get a block for each Flux object, and what was not seen below it', async () => {
  const { code, stdout } = await run(
    ACME,
    'access',
    'apps',
    'fleet',
    '--url',
    `${ADDRESS}fleet`,
    '--cluster',
    'staging',
  )
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('apps on staging belongs to tenant dev-team')
  const first = lines.indexOf('Kustomization apps/dev-team')
  expect(lines.slice(first, first + 4)).toEqual([
    'Kustomization apps/dev-team',
    `  content  ${ADDRESS}dev-team#main ./staging`,
    '  account  apps/dev-team',
    expect.stringMatching(/^ {2}rights {3}ClusterRole cluster-admin \(tenants\/base\/dev-team\/rbac\.yaml:\d+\)$/),
  ])
  expect(stdout).toMatch(/What is applied is not visible\n {2}Kustomization apps\/dev-team: not given: --repo /)
})

const RBAC = 'rbac.authorization.k8s.io'
const bind = (namespace: string, name: string, role: string, subject: string) => `
apiVersion: ${RBAC}/v1
kind: ${namespace ? 'RoleBinding' : 'ClusterRoleBinding'}
metadata: { name: ${name}${namespace ? `, namespace: ${namespace}` : ''} }
roleRef: { apiGroup: ${RBAC}, kind: ClusterRole, name: ${role} }
subjects: [${subject}]
---`
const apply = (namespace: string, account: string) => `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: of-${account || 'nobody'}, namespace: ${namespace} }
spec: { interval: 1h, prune: true, path: ./empty, sourceRef: { kind: GitRepository, name: flux-system, namespace: flux-system }${account ? `, serviceAccountName: ${account}` : ''} }
---`

/** \`ci\` runs pods where \`deployer\` lives, which may edit \`apps\`; \`reader\` only reads. */
const WORLD = [
  'apiVersion: v1\nkind: Namespace\nmetadata: { name: apps }\n---',
  'apiVersion: v1\nkind: Namespace\nmetadata: { name: tools }\n---',
  bind('apps', 'deployer', 'edit', '{ kind: ServiceAccount, name: deployer, namespace: tools }'),
  bind('tools', 'ci', 'edit', '{ kind: ServiceAccount, name: ci, namespace: tools }'),
  bind('apps', 'reader', 'view', '{ kind: ServiceAccount, name: reader, namespace: tools }'),
  bind('', 'operators', 'of-a-chart', `{ kind: Group, name: ops, apiGroup: ${RBAC} }`),
  bind('apps', 'people', 'admin', `{ kind: Group, name: devs, apiGroup: ${RBAC} }`),
  ...['ci', 'reader', 'deployer', ''].map(account => apply('tools', account)),
].join('\n')

function world(): string {
  return write(scratch(), {
    'clusters/one/all.yaml': WORLD,
    'clusters/one/kustomization.yaml': 'resources: [all.yaml]',
    'empty/kustomization.yaml': 'configMapGenerator: [{ name: a, namespace: tools, literals: [a=b] }]',
  })
}

test('Kustomizations of one repository that act as one account are listed once', async () => {
  const dir = twoTenants({ tenant: 'dev-team', namespace: 'apps', cluster: 'staging' })
  const kustomization = (name: string) => `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: ${name}, namespace: flux-system }
spec: { interval: 1m, path: ./infrastructure/${name}, prune: true, serviceAccountName: kustomize-controller, sourceRef: { kind: GitRepository, name: flux-system } }
`
  const names = Array.from({ length: 13 }, (_, at) => `like-${String(at).padStart(2, '0')}`)
  const more = names.map(name => [`infrastructure/${name}/none.yaml`, ''] as const)
  write(dir, { ...Object.fromEntries(more), 'infrastructure/like.yaml': names.map(kustomization).join('---\n') })
  const list = join(dir, 'infrastructure/kustomization.yaml')
  writeFileSync(list, readFileSync(list, 'utf8').replace('- sandbox.yaml', '- sandbox.yaml\n  - like.yaml'))
  const { stdout } = await run(dir, 'access', 'apps', '.', '--cluster', 'staging', '--url', `${ADDRESS}fleet`)
  const text = stdout.replace(/\n {4,}/g, ' ')
  expect(text.match(/^Kustomization flux-system\/like-/gm) ?? []).toHaveLength(0)
  expect(text).toMatch(/and \d+ other paths/)
  expect(text).toMatch(/and 1[0-9] others like it: .* and \d+ more \(-o json lists all\)/)
  const all = await run(dir, 'access', 'apps', '.', '--cluster', 'staging', '--url', `${ADDRESS}fleet`, '-o', 'json')
  for (const name of names) expect(all.stdout).toContain(`"${name}"`)
})

test('the way through another account is found, a reader is not, and a controller is named', async () => {
  const [one] = await accessTo(world(), 'apps', '--url', `${ADDRESS}fleet`)
  const row = (name: string) => one!.changers.find(changer => changer.name === name)
  expect(row('of-deployer')?.grants).toMatchObject([{ role: 'ClusterRole edit', clusterWide: false }])
  expect(row('of-ci')).toMatchObject({
    grants: [],
    by: { account: 'tools/deployer', way: 'runs pods', grant: { role: 'ClusterRole edit' } },
  })
  expect(row('of-reader')).toBeUndefined()
  const flux = { clusterWide: true, from: { by: 'flux' } }
  expect(row('of-nobody')).toMatchObject({
    impersonated: false,
    grants: [
      { ...flux, role: 'ClusterRole cluster-admin' },
      { ...flux, role: 'ClusterRole crd-controller-flux-system' },
    ],
  })
  const others = one!.others.map(({ subject, role }) => [subject, role])
  expect(others).toContainEqual(['ServiceAccount flux-system/helm-controller', 'ClusterRole cluster-admin'])
  expect(others.filter(([subject]) => !subject?.includes('flux-system/'))).toEqual([
    ['Group system:masters', 'ClusterRole cluster-admin'],
    ['Group devs', 'ClusterRole admin'],
  ])
  expect(one!.unknown).toEqual([
    expect.stringMatching(/^ClusterRoleBinding operators refers to ClusterRole of-a-chart, which the fleet/),
  ])
})

test('a namespace that there is not is bad use, and so is a broken Kustomization half a list', async () => {
  const dir = world()
  const { code, stderr } = await run(dir, 'access', 'nowhere')
  expect([code, stderr]).toEqual([2, expect.stringContaining('no namespace "nowhere"; there are: apps, ')])
  expect((await run(dir, 'access')).stderr).toContain('NAMESPACE is missing')
  write(dir, { 'empty/kustomization.yaml': 'resources: [gone.yaml]' })
  const broken = await run(dir, 'access', 'apps', '--url', `${ADDRESS}fleet`)
  expect([broken.code, broken.stdout]).toEqual([2, expect.stringContaining('Kustomization tools/of-deployer: ')])
})

test('the shared Capsule fleet: the owner of the Tenant acts by a kubeconfig', async ({ skip }) => {
  const dir = join(SHARED, 'flux2-capsule-multi-tenancy')
  if (!existsSync(dir)) return skip('../shared/fleets is missing')
  const url = 'https://github.com/clastix/flux2-capsule-multi-tenancy'
  const [one] = await accessTo(dir, 'dev-team', 'fleet', '--url', url, '--repo', `${url}#dev-team=${dir}/dev-team`)
  expect(one).toMatchObject({ cluster: 'staging', tenant: 'dev-team' })
  const own = one!.changers.filter(({ tenant }) => tenant === 'dev-team')
  expect(new Set(own.map(({ identity }) => identity))).toEqual(
    new Set(['system:serviceaccount:dev-team:gitops-reconciler']),
  )
  expect(own.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
    expect.arrayContaining(['Kustomization dev-team', 'HelmRelease podinfo']),
  )
  expect(own[0]).toMatchObject({ ownCluster: false })
})
