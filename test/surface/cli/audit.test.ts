import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { main } from '../../../src/surface/cli/main.ts'
import type { AuditItem } from '../../../src/verdict/audit/audit-item.ts'
import { DEV_URL, devFiles, FLEET_URL, fleetFiles } from '../../fleet/mini-fleet.ts'
import { run, scratch, write } from './run-main.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const SHARED = join(import.meta.dirname, '../../../../shared/fleets')
const ADDRESS = 'https://github.com/acme/'
const SOURCES = ['dev-team'].flatMap(name => ['--repo', `${ADDRESS}${name}=${ACME}/${name}`])
const FLEET = ['fleet', '--url', `${ADDRESS}fleet`, ...SOURCES]

interface Audit {
  readonly cluster: string
  readonly summary: { readonly ok: number; readonly weak: number; readonly unknown: number }
  readonly items: readonly AuditItem[]
}

async function audited(dir: string, ...args: string[]): Promise<Audit[]> {
  const { code, stdout, stderr } = await run(dir, 'audit', ...args, '-o', 'json')
  expect([code, stderr]).toEqual([0, ''])
  return (JSON.parse(stdout) as { clusters: Audit[] }).clusters
}

const row = ({ state, check, subject, origin }: AuditItem) =>
  `${state} ${check} ${subject}${origin ? ` ${origin.file}:${origin.line}` : ''}`
const weakOf = ({ items }: Audit) => items.filter(({ state }) => state === 'weak').map(row)

test('each cluster by itself, with the line where it is written', async () => {
  const [production, staging, ...others] = await audited(ACME, ...FLEET)
  expect(others).toEqual([])
  const flux = 'clusters/production/flux-system'
  expect(production?.items.map(row)).toEqual([
    `ok installation  ${flux}/gotk-components.yaml:106`,
    `ok no-cross-namespace-refs kustomize-controller ${flux}/kustomization.yaml:10`,
    `ok no-remote-bases kustomize-controller ${flux}/kustomization.yaml:17`,
    `ok default-service-account kustomize-controller ${flux}/kustomization.yaml:24`,
    'ok sops-age-secret kustomize-controller',
    'ok default-account apps/default',
    'weak status-writers apps tenants/base/dev-team/rbac.yaml:27',
    'ok remote-bases ',
    `ok sources github.com/acme ${flux}/gotk-sync.yaml:13`,
  ])
  expect(production?.summary).toEqual({ ok: 8, weak: 1, unknown: 0 })
  const of = (text: string) => text.replaceAll('production', 'staging')
  expect(staging?.items.map(row)).toEqual(production?.items.map(item => of(row(item))))
})

test('no line of the text is wider than 100 columns', async () => {
  const { stdout } = await run(ACME, 'audit', ...FLEET)
  expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
  expect(stdout).toContain('\n  status-writers: ')
})

test('text for people, of one cluster', async () => {
  const { code, stdout } = await run(ACME, 'audit', ...FLEET, '--cluster', 'staging')
  expect(code).toBe(0)
  const lines = stdout.split('\n')
  expect(lines.slice(0, 3)).toEqual([
    'staging (clusters/staging): 8 ok, 1 weak, 0 unknown',
    '',
    expect.stringMatching(/^STATE +CHECK +FOUND$/),
  ])
  expect(lines[3]).toMatch(/^weak +status-writers +/)
  expect(lines.slice(3)).toContainEqual(expect.stringMatching(/^ {2,}tenants\/base\/dev-team\/rbac\.yaml:27$/))
  expect(lines.filter(line => line.length > 100 && !line.startsWith('  '))).toEqual([])
  expect(stdout).toMatch(/^ok +installation +Flux is installed by Deployments of the fleet; version/m)
  expect(stdout).toContain('What to do\n  status-writers: the status of a source holds')
  expect(stdout).not.toContain('production')
})

test('a terminal shows at most about 60 lines, the worst first, and how to see the rest', async () => {
  const at = async (...args: string[]) => {
    let text = ''
    const stdout = (part: string) => {
      text += part
    }
    const io = { stdout, stderr: () => {}, stdin: Readable.from([]), cwd: ACME, env: {}, isTerminal: true }
    await main(['audit', ...FLEET, ...args], io)
    return text.trimEnd().split('\n')
  }
  const short = await at()
  expect(short.length).toBeLessThanOrEqual(64)
  expect(short.filter(line => line.startsWith('ok '))).toEqual([])
  expect(short.findIndex(line => line.startsWith('weak '))).toBeLessThan(4)
  expect(short.at(-1)).toContain('--verbose')
  expect(short.filter(line => line === 'What to do')).toHaveLength(1)
  const whole = await at('--verbose')
  expect(whole.filter(line => line.startsWith('ok '))).toHaveLength(16)
})

test('--strict makes what is weak an exit code', async () => {
  expect((await run(ACME, 'audit', ...FLEET, '--strict')).code).toBe(1)
  expect((await run(ACME, 'audit', ...FLEET)).code).toBe(0)
})

const KUSTOMIZATION = 'clusters/staging/flux-system/kustomization.yaml'
const patch = (value: string) => `resources: [gotk-components.yaml, gotk-sync.yaml]
patches:
  - target: {kind: Deployment, name: kustomize-controller}
    patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: ${value}
`

async function miniAudit(files: Readonly<Record<string, string | null>>): Promise<Audit> {
  const dir = scratch()
  const all = Object.entries({ ...fleetFiles, ...files }).filter(([, text]) => text !== null)
  write(join(dir, 'fleet'), Object.fromEntries(all) as Record<string, string>)
  write(join(dir, 'dev'), devFiles)
  write(join(dir, 'ops'), { 'deploy/kustomization.yaml': 'configMapGenerator: [{name: x, namespace: ops}]\n' })
  const repositories = ['--repo', `${DEV_URL}=dev`, '--repo', `${ADDRESS}ops-team=ops`]
  const [audit] = await audited(dir, 'fleet', '--url', FLEET_URL, ...repositories)
  return audit!
}

test('what is off, or opens something, is weak', async () => {
  const gates = '--feature-gates=StrictPostBuildSubstitutions=false,ExternalArtifact=true'
  const audit = await miniAudit({ [KUSTOMIZATION]: patch(gates) })
  expect(weakOf(audit)).toEqual([
    'weak no-cross-namespace-refs kustomize-controller clusters/staging/flux-system/gotk-components.yaml:5',
    'weak no-cross-namespace-refs helm-controller clusters/staging/flux-system/gotk-components.yaml:21',
    'weak no-remote-bases kustomize-controller clusters/staging/flux-system/gotk-components.yaml:5',
    'weak default-service-account kustomize-controller clusters/staging/flux-system/gotk-components.yaml:5',
    'weak default-service-account helm-controller clusters/staging/flux-system/gotk-components.yaml:21',
    `weak feature-gates StrictPostBuildSubstitutions ${KUSTOMIZATION}:7`,
    `weak feature-gates ExternalArtifact ${KUSTOMIZATION}:7`,
    'weak status-writers  tenants/dev-team.yaml:22',
  ])
  const keys = await miniAudit({ [KUSTOMIZATION]: patch('--sops-age-secret=all') })
  expect(weakOf(keys)).toContain(`weak sops-age-secret kustomize-controller ${KUSTOMIZATION}:7`)
})

test('an account that everything falls back to, with rights', async () => {
  const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: Group, name: 'system:serviceaccounts:apps', apiGroup: rbac.authorization.k8s.io}]
`
  const rowsWith = async (text: string, more = {}) => {
    const audit = await miniAudit({
      'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, binding.yaml]\n',
      'tenants/binding.yaml': text,
      ...more,
    })
    return audit.items.filter(({ check }) => check === 'default-account').map(row)
  }
  expect(await rowsWith(binding)).toEqual([
    'weak default-account apps/default tenants/binding.yaml:4',
    'ok default-account ops/default',
  ])
  const ofFlux = '{kind: ServiceAccount, name: default, namespace: flux-system}'
  expect(await rowsWith(binding.replace(/\{kind: Group.*\}/, ofFlux))).toEqual([
    'ok default-account default',
    'weak default-account flux-system/default tenants/binding.yaml:4',
  ])
  // an account of another name is meant to have the rights of its tenant, as Capsule's recipe has it
  const other = fleetFiles[KUSTOMIZATION]!.replace(
    'default-service-account=default',
    'default-service-account=dev-team',
  )
  expect(await rowsWith('', { [KUSTOMIZATION]: other })).toEqual(['ok default-account default'])
})

test('what the fleet does not show is unknown, never ok', async () => {
  const sync = fleetFiles['clusters/staging/flux-system/gotk-sync.yaml']!
  const nothing = await miniAudit({ [KUSTOMIZATION]: 'resources: [gotk-sync.yaml]\n' })
  expect(nothing.items[0]).toMatchObject({ check: 'installation', state: 'unknown' })
  expect(nothing.items.filter(({ check }) => check.startsWith('no-'))).toEqual([])
  expect(nothing.items[1]).toMatchObject({ check: 'flux-rbac', state: 'unknown' })
  const elsewhere = sync.replaceAll('flux-system', 'elsewhere').replace('acme/fleet', 'acme/elsewhere')
  const unseen = await miniAudit({
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, elsewhere.yaml]\n',
    'clusters/staging/elsewhere.yaml': elsewhere.replaceAll('namespace: elsewhere', 'namespace: flux-system'),
  })
  const states = new Map(unseen.items.map(({ check, subject, state }) => [`${check} ${subject}`, state]))
  expect(states.get('default-account default')).toBe('unknown')
  expect(states.get('remote-bases ')).toBe('unknown')
})

const EMPTY = '# This file is written by flux bootstrap.\n'
const PLACEHOLDER = {
  'clusters/staging/flux-system/gotk-components.yaml': EMPTY,
  'clusters/staging/flux-system/gotk-sync.yaml': EMPTY,
  [KUSTOMIZATION]: 'resources: [gotk-components.yaml, gotk-sync.yaml]\n',
}

test('a role that Flux extends is weak once in a cluster, and its fix can be made', async () => {
  const bound = (role: string) =>
    Object.fromEntries(
      ['dev-team', 'ops-team'].map(name => {
        const path = `tenants/${name}.yaml`
        return [path, fleetFiles[path]!.replace('name: cluster-admin', `name: ${role}`)]
      }),
    )
  const writers = ({ items }: Audit) => items.filter(({ check }) => check === 'status-writers')
  const edit = await miniAudit({ ...PLACEHOLDER, ...bound('edit') })
  const [found, ...others] = writers(edit)
  expect(others).toEqual([])
  expect(found?.message).toBe(
    'ClusterRole "edit" includes writing the status of sources, because "flux-edit-flux-system" of Flux is aggregated into it; RoleBinding apps/gotk-reconciler and 1 more gives it in 2 namespaces ("apps", "ops")',
  )
  const [, file, item] = /^Add to patches in "([^"]+)": `(.*)`$/.exec(found!.fix) ?? []
  expect(file).toBe(KUSTOMIZATION)
  const patched = { ...PLACEHOLDER, [KUSTOMIZATION]: `${PLACEHOLDER[KUSTOMIZATION]}patches:\n  ${item}\n` }
  const ok = [expect.objectContaining({ state: 'ok', message: expect.stringMatching(/^only Flux can write/) })]
  expect(writers(await miniAudit({ ...patched, ...bound('edit') }))).toEqual(ok)
  expect(writers(await miniAudit({ ...patched, ...bound('admin') }))).toEqual(ok)
  expect(writers(await miniAudit({ ...PLACEHOLDER, ...bound('view') }))).toEqual(ok)
})

test('forty tenants with one role are one line, not forty', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `team${index}`)
  const files = names.map(name => {
    const text = fleetFiles['tenants/dev-team.yaml']!.replaceAll('dev-team', name).replaceAll('apps', `${name}-apps`)
    return [`tenants/${name}.yaml`, text] as const
  })
  const list = `resources: [dev-team.yaml, ops-team.yaml, ${names.map(name => `${name}.yaml`).join(', ')}]\n`
  const dir = scratch()
  write(dir, { ...fleetFiles, ...Object.fromEntries(files), 'tenants/kustomization.yaml': list })
  const { stdout } = await run(dir, 'audit', '--url', FLEET_URL, '-o', 'json')
  const { items } = (JSON.parse(stdout) as { clusters: Audit[] }).clusters[0]!
  const rows = items.filter(({ check }) => check === 'status-writers' || check === 'default-account')
  expect(rows.map(({ check, state, subject }) => [check, state, subject])).toEqual([
    ['default-account', 'ok', 'default'],
    ['status-writers', 'weak', ''],
  ])
  expect(rows[1]?.message).toContain(
    'RoleBinding apps/gotk-reconciler and 41 more gives it in 42 namespaces ("apps", "ops"',
  )
  const { stdout: one } = await run(dir, 'audit', '--url', FLEET_URL, '--tenant', 'team7', '-o', 'json')
  const own = (JSON.parse(one) as { clusters: Audit[] }).clusters[0]!.items
  const messages = own.filter(({ check }) => check === 'status-writers').map(({ message }) => message)
  expect(messages).toEqual([expect.stringContaining('RoleBinding team7-apps/gotk-reconciler gives it in namespace')])
})

test('a remote base, and sources without encryption', async () => {
  const audit = await miniAudit({
    'clusters/staging/kustomization.yaml': 'resources: [flux-system, tenants.yaml, bucket.yaml]\n',
    'clusters/staging/bucket.yaml': `apiVersion: source.toolkit.fluxcd.io/v1
kind: Bucket
metadata: {name: charts, namespace: flux-system}
spec: {endpoint: minio.example.com, insecure: true, bucketName: x}
`,
  })
  expect(weakOf(audit)).toContain('weak sources minio.example.com clusters/staging/bucket.yaml:4')
})

test('a fleet that is none, and an option that is none, are said', async () => {
  const dir = scratch()
  write(dir, { 'README.md': '' })
  const { code, stderr } = await run(dir, 'audit')
  expect([code, stderr]).toEqual([2, expect.stringContaining('error[usage]: no cluster was found in the fleet')])
  expect((await run(ACME, 'audit', 'fleet', '--cluster', 'nowhere')).code).toBe(2)
  expect((await run(ACME, 'audit', 'fleet', '-o', 'yaml')).code).toBe(2)
})

test.runIf(existsSync(SHARED))('the reference fleet: patches for a Flux that is not in it', async () => {
  const dir = join(SHARED, 'flux2-multi-tenancy')
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const [staging] = await audited(
    dir,
    'fleet',
    '--url',
    url,
    '--cluster',
    'staging',
    '--repo',
    `${url}#dev-team=dev-team`,
  )
  expect(staging?.items[0]).toMatchObject({ check: 'installation', state: 'unknown' })
  const flags = staging?.items.filter(({ check }) => check.startsWith('no-') || check === 'default-service-account')
  expect(flags?.filter(({ state }) => state === 'weak')).toEqual([])
  expect(flags?.filter(({ state }) => state === 'ok')).toHaveLength(8)
})
