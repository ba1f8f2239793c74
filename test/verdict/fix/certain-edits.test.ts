import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, repository, run, scratch, write } from '../../surface/cli/run-main.ts'
import { world } from '../../surface/cli/situation.ts'
import { twoTenants } from '../../surface/cli/two-tenants.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const SYNC = 'tenants/base/dev-team/sync.yaml'
const TENANT = ['--repo', 'https://github.com/acme/dev-team=../dev-team']

/** The acme fleet beside its tenants, with another `sync.yaml` of dev-team. */
function fleetWith(change: (sync: string) => string): { readonly fleet: string; readonly sync: () => string } {
  const root = scratch()
  cpSync(ACME, root, { recursive: true })
  const fleet = repository(join(root, 'fleet'), {}, 'https://github.com/acme/fleet')
  repository(join(root, 'dev-team'), {}, 'https://github.com/acme/dev-team')
  const sync = () => readFileSync(join(fleet, SYNC), 'utf8')
  writeFileSync(join(fleet, SYNC), change(sync()))
  return { fleet, sync }
}

const ACCOUNT = '  serviceAccountName: dev-team\n'
const after = (text: string, added: string) => (sync: string) => sync.replace(text, `${text}${added}`)

test.for<[string, string, (sync: string) => string, string]>([
  [
    'target-namespace',
    'a target namespace',
    after(ACCOUNT, '  targetNamespace: kube-system\n'),
    'targetNamespace: apps\n',
  ],
  ['sa-required', 'no service account', sync => sync.replace(ACCOUNT, ''), ACCOUNT],
  [
    'sa-required',
    'an empty service account',
    sync => sync.replace(ACCOUNT, '  serviceAccountName: ""\n'),
    'serviceAccountName: dev-team\n',
  ],
  [
    'cross-namespace-ref',
    'a source of another namespace that its own has, too',
    after('    kind: GitRepository\n', '    namespace: flux-system\n'),
    '    kind: GitRepository\n    name: dev-team\n',
  ],
  [
    'schema-mismatch',
    'a field that resembles one other',
    sync => `${sync}---\n${SERVICE('prots:\n  - port: 80')}`,
    '  ports:\n  - port: 80\n',
  ],
])('%s: %s has a certain edit, and then passes', async ([rule, , change, wanted]) => {
  const { fleet, sync } = fleetWith(change)
  const shown = await run(fleet, 'fix', ...TENANT)
  expect(shown.stdout).toMatch(new RegExp(`^${SYNC}:\\d+: .*${rule}`, 'm'))
  const { code, stdout } = await run(fleet, 'fix', '--apply', ...TENANT)
  expect(stdout).toMatch(/^\d safe fix(?:es)? applied\nPassed/m)
  expect([code, sync().includes(wanted)]).toEqual([0, true])
})

test('the edit of a target namespace is in the repository that has the Kustomization, and is named there', async () => {
  const { fleet, sync } = fleetWith(after(ACCOUNT, '  targetNamespace: kube-system\n'))
  const before = sync()
  const tenant = join(fleet, '../dev-team')
  const fixed = await run(tenant, 'fix', '--apply', '--fleet', '../fleet')
  expect(fixed.stdout).toMatch(/^0 safe fixes applied\nfail: /m)
  expect(sync()).toBe(before)
  const checked = await run(tenant, 'check', '--fleet', '../fleet')
  const line = before.split('\n').findIndex(text => text.includes('targetNamespace')) + 1
  expect(checked.stdout).toContain(`Set \`targetNamespace\` to \`apps\` at github.com/acme/fleet ${SYNC}:${line}.`)
})

const SOURCE = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: own, namespace: apps }
spec:
  interval: 1m
  url: https://github.com/acme/dev-team
  ref: { branch: main }
`

test('source-proxy: a proxy is removed as a whole', async () => {
  const tenant = join(fleetWith(sync => sync).fleet, '../dev-team')
  const list = join(tenant, 'staging/kustomization.yaml')
  const file = join(tenant, 'staging/own.yaml')
  writeFileSync(list, readFileSync(list, 'utf8').replace('resources:', 'resources:\n  - own.yaml'))
  writeFileSync(file, SOURCE.replace('  ref:', '  proxySecretRef:\n    name: own\n  ref:'))
  const { stdout } = await run(tenant, 'fix', '--apply', '--fleet', '../fleet')
  expect([stdout.includes('source-proxy'), readFileSync(file, 'utf8')]).toEqual([true, SOURCE])
})

const SERVICE = (port: string) =>
  `apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: apps\nspec:\n  selector: { app: web }\n  ${port}\n`

test.for([
  ['a value of another type', SERVICE('prots: 80')],
  ['a value that lacks something', SERVICE('prots: [{ name: web }]')],
  ['a key that is there already', SERVICE('ports: [{ port: 80 }]\n  prots: [{ port: 81 }]')],
  ['no similar key', SERVICE('ports: [{ port: 80 }]\n  wholly: different')],
] as const)('an unknown field with %s is not renamed', async ([, text]) => {
  const { fleet } = fleetWith(sync => `${sync}---\n${text}`)
  const { stdout } = await run(fleet, 'fix', ...TENANT)
  expect(stdout).not.toContain('schema-mismatch')
})

const BASE = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: shared
spec:
  interval: 1m
  path: ./
  prune: true
  serviceAccountName: default
  sourceRef:
    kind: GitRepository
    name: own
    namespace: flux-system
---
${SOURCE.replace(', namespace: apps', '')}`

/** Two tenants whose Kustomizations come from one base; `patch`: what the overlay of ops-team adds. */
function sharedBase(patch = ''): { readonly dir: string; readonly base: () => string } {
  const dir = twoTenants({ tenant: 'dev-team', namespace: 'apps', cluster: 'staging' })
  const overlay = (namespace: string, more = '') => `namespace: ${namespace}\nresources: [../base]\n${more}`
  const list = join(dir, 'infrastructure/kustomization.yaml')
  const more = '- sandbox.yaml\n  - ../shared/dev-team\n  - ../shared/ops-team'
  writeFileSync(list, readFileSync(list, 'utf8').replace('- sandbox.yaml', more))
  write(dir, {
    'shared/base/kustomization.yaml': 'resources: [shared.yaml]\n',
    'shared/base/shared.yaml': BASE,
    'shared/dev-team/kustomization.yaml': overlay('apps'),
    'shared/ops-team/kustomization.yaml': overlay('ops', patch),
  })
  repository(dir, {}, 'https://github.com/acme/fleet')
  return { dir, base: () => readFileSync(join(dir, 'shared/base/shared.yaml'), 'utf8') }
}

test('the edit of a base is offered where it fixes each tenant that gets it', async () => {
  const { dir, base } = sharedBase()
  const { stdout } = await run(dir, 'fix', '--apply')
  expect([stdout.includes('cross-namespace-ref'), base()]).toEqual([
    true,
    BASE.replace('    namespace: flux-system\n', ''),
  ])
})

test('the edit of a base is not offered where only one of two tenants has the finding, and the fix says why', async () => {
  const patch =
    'patches:\n  - target: { kind: Kustomization }\n    patch: |\n      - { op: replace, path: /spec/sourceRef/namespace, value: ops }\n'
  const { dir, base } = sharedBase(patch)
  const { stdout } = await run(dir, 'fix', '--apply')
  expect([stdout.includes('cross-namespace-ref'), base()]).toEqual([false, BASE])
  const checked = await run(dir, 'check')
  expect(checked.stdout).toMatch(/cross-namespace-ref\][\s\S]*make the change in an overlay of this tenant alone/)
})

const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  volumes: [{ name: host, hostPath: { path: / } }]
  containers:
    - name: web
      image: acme/web:1.0.0
      securityContext:
        privileged: true
`
const NESTED = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: { name: more, namespace: apps }
spec:
  interval: 5m
  path: ./more
  prune: true
  serviceAccountName: dev-team
  sourceRef:
    kind: GitRepository
    name: dev-team
    namespace: flux-system
`

/** The tenant of the small fleet with these files on a branch. */
function tenantWith(files: Record<string, string>): string {
  const { tenant } = world()
  git(tenant, 'switch', '--quiet', '-c', 'topic')
  return write(tenant, files)
}
const fixArgs = ['fix', '--apply', '--fleet', '../fleet', '--base', 'main']

test('an edit that adds a namespace is kept although the other findings of the object name it then', async () => {
  const dir = tenantWith({ 'deploy/web.yaml': POD })
  const { code, stdout, stderr } = await run(dir, ...fixArgs)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^2 safe fixes applied\nfail: /m)
  const fixed = POD.replace('metadata:\n', 'metadata:\n  namespace: apps\n').replace(
    'privileged: true',
    'privileged: false',
  )
  expect([code, readFileSync(join(dir, 'deploy/web.yaml'), 'utf8')]).toEqual([1, fixed])
}, 60_000)

test('the one edit that would cause another finding is left out and named, and the others are written', async () => {
  const more = { 'more/namespace.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: { name: more }\n' }
  const dir = tenantWith({ 'deploy/web.yaml': POD, 'deploy/nested.yaml': NESTED, ...more })
  const { code, stdout } = await run(dir, ...fixArgs)
  expect(stdout.replace(/\n {2}/g, ' ')).toContain(
    'deploy/nested.yaml:12: cross-namespace-ref: not written, it would cause violation[namespace-ownership]',
  )
  expect(stdout).toMatch(/^2 safe fixes applied, 1 not applied\nerror: /m)
  expect([code, readFileSync(join(dir, 'deploy/nested.yaml'), 'utf8')]).toEqual([2, NESTED])
  expect(readFileSync(join(dir, 'deploy/web.yaml'), 'utf8')).toContain('privileged: false')
  const { applied, fixes, notWritten } = JSON.parse((await run(dir, ...fixArgs, '-o', 'json')).stdout)
  expect([applied, fixes, notWritten.map((one: { causes: string[] }) => one.causes)]).toEqual([
    true,
    [],
    [['violation[namespace-ownership] more/namespace.yaml:3']],
  ])
}, 60_000)
