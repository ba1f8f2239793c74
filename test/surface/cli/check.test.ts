import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { git, type Ran, repository, run, scratch, write } from './run-main.ts'

const FLEET = 'https://github.com/acme/fleet'
const DEV = 'https://github.com/acme/dev-team'

const FOREIGN = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  namespace: sandbox\n'

const MOVE = `patches:
  - target:
      kind: Service
    patch: |
      - op: replace
        path: /metadata/namespace
        value: sandbox
`

/** The fleet and its tenant side by side, each a working copy with its address. */
function acme() {
  const root = scratch()
  return {
    fleet: repository(join(root, 'fleet'), fleetFiles('acme/fleet'), `${FLEET}.git`),
    tenant: repository(join(root, 'dev-team'), fleetFiles('acme/dev-team'), 'git@github.com:acme/dev-team.git'),
  }
}

/** Puts an object of the sandbox into what dev-team applies on staging, by a resource and by a patch. */
function trespass(tenant: string): void {
  const kustomization = fleetFiles('acme/dev-team')['staging/kustomization.yaml']!
  write(tenant, {
    'staging/foreign.yaml': FOREIGN,
    'staging/kustomization.yaml': `${kustomization.replace('resources:\n', 'resources:\n  - foreign.yaml\n')}${MOVE}`,
  })
}

const json = ({ stdout }: Ran) => JSON.parse(stdout)

describe('a fleet', () => {
  test('passes as it is; sources that are not given are listed', async () => {
    const { fleet } = acme()
    const ran = await run(fleet, 'check', '-o', 'json')
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(json(ran)).toMatchObject({
      result: 'pass',
      clusters: [
        { name: 'production', path: 'clusters/production' },
        { name: 'staging', path: 'clusters/staging' },
      ],
      tenants: [{ name: 'dev-team', namespaces: ['apps'] }],
      violations: [],
      errors: [],
    })
    expect(json(ran).notSeen).toEqual([
      expect.objectContaining({ url: DEV, reason: expect.stringContaining('--repo') }),
    ])
  })

  test('a tenant whose content is given is judged with it', async () => {
    const { fleet, tenant } = acme()
    trespass(tenant)
    const ran = await run(fleet, 'check', '--repo', `${DEV}#main=../dev-team`, '-o', 'json')
    expect(ran.code).toBe(1)
    expect(json(ran).notSeen).toEqual([])
    const common = {
      rule: 'namespace-confinement',
      state: 'new',
      cluster: 'staging',
      tenant: 'dev-team',
      identity: 'system:serviceaccount:apps:dev-team',
    }
    expect(json(ran).violations).toEqual([
      expect.objectContaining({
        ...common,
        object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'sandbox', name: 'x' },
        origin: { repository: DEV, file: 'staging/foreign.yaml', line: 5, column: 14 },
      }),
      expect.objectContaining({
        ...common,
        object: { apiVersion: 'v1', kind: 'Service', namespace: 'sandbox', name: 'storefront' },
        origin: expect.objectContaining({ repository: DEV, file: 'staging/kustomization.yaml' }),
      }),
    ])
  })

  test('a repository at another ref than the source follows is not taken for it', async () => {
    const { fleet } = acme()
    const ran = await run(fleet, 'check', '--repo', `${DEV}#v2=../dev-team`, '-o', 'json')
    expect(json(ran).notSeen).toEqual([
      expect.objectContaining({
        url: DEV,
        reason: `the source follows main; this clone is on v2: --repo ${DEV}#main=DIR shows it`,
      }),
    ])
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(`Sources follow: ${DEV}#main`)])
  })

  test('files that are not committed count, ignored ones do not', async () => {
    const { fleet } = acme()
    const sync = fleetFiles('acme/fleet')['tenants/base/dev-team/sync.yaml']!
    write(fleet, { 'tenants/base/dev-team/sync.yaml': sync.replace('  serviceAccountName: dev-team\n', '') })
    const ran = await run(fleet, 'check', '-o', 'json')
    expect(ran.code).toBe(1)
    expect(json(ran).violations[0]).toMatchObject({
      rule: 'sa-required',
      origin: { file: 'tenants/base/dev-team/sync.yaml' },
    })
  })

  test('only what is new since the base fails; what stands is listed', async () => {
    const { fleet } = acme()
    const sync = fleetFiles('acme/fleet')['tenants/base/dev-team/sync.yaml']!
    write(fleet, { 'tenants/base/dev-team/sync.yaml': sync.replace('  serviceAccountName: dev-team\n', '') })
    git(fleet, 'commit', '--quiet', '-am', 'bad')
    const after = await run(fleet, 'check', '--base', 'HEAD', '-o', 'json')
    expect(after.code).toBe(0)
    expect(json(after).violations[0]).toMatchObject({ rule: 'sa-required', state: 'standing' })
    const since = await run(fleet, 'check', '--base', 'HEAD~1')
    expect(since.code).toBe(1)
    expect(since.stdout).toMatch(/tenants\/base\/dev-team\/sync\.yaml:\d+: violation\[sa-required\]: /)
    expect(since.stdout).toMatch(/\nfail: 1 violation in dev-team \(production, staging\)/)
    const missing = await run(fleet, 'check', '--base', 'nowhere')
    expect(missing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^error\[git-missing\]: /) })
  })

  test('the baseline file lets what it lists stand, and a bad one is an error', async () => {
    const { fleet } = acme()
    write(fleet, { '.github/bailiwick-baseline.yaml': 'violations: 3\n' })
    expect(await run(fleet, 'check')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error\[config\]: .*bailiwick-baseline\.yaml:1/),
    })
  })

  test('what cannot be decided is exit 2, with its place', async () => {
    const { fleet } = acme()
    const kustomization = fleetFiles('acme/fleet')['tenants/staging/kustomization.yaml']!
    write(fleet, { 'tenants/staging/kustomization.yaml': `${kustomization}unheardOf: true\n` })
    const ran = await run(fleet, 'check', '-o', 'json')
    expect(ran.code).toBe(2)
    expect(json(ran)).toMatchObject({ result: 'error' })
    expect(ran.stderr).toMatch(/^error\[kustomize-[a-z]+\]: .*tenants\/staging\/kustomization\.yaml:\d+.*\n$/)
  })

  test('a plain folder stands for branch main of the given address', async () => {
    const folder = write(scratch(), fleetFiles('acme/fleet'))
    expect(await run(folder, 'check', '--url', FLEET)).toMatchObject({ code: 0, stderr: '' })
    expect(await run('/', 'check', folder)).toMatchObject({ code: 0 })
  })
})

describe("a tenant's repository", () => {
  test('is judged together with the fleet', async () => {
    const { tenant } = acme()
    const clean = await run(tenant, 'check', '--fleet', '../fleet', '-o', 'json')
    expect([clean.code, json(clean).notSeen]).toEqual([0, []])
    trespass(tenant)
    const ran = await run(tenant, 'check', '--fleet', '../fleet', '--base', 'HEAD')
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('staging/foreign.yaml:5: violation[namespace-confinement]')
    expect(ran.stdout).toContain('forbidden: User "system:serviceaccount:apps:dev-team" cannot patch resource')
  })

  test('on a branch that no source follows is not evaluated, which is an error', async () => {
    const { tenant } = acme()
    trespass(tenant)
    const ran = await run(tenant, 'check', '--fleet', '../fleet', '--branch', 'try', '-o', 'json')
    expect(ran.code).toBe(2)
    expect(json(ran)).toMatchObject({ result: 'error', errors: [{ code: 'not-followed' }] })
    expect(json(ran).notSeen[0].reason).toBe(
      `the source follows main; this clone is on try: --repo ${DEV}#main=DIR shows it`,
    )
  })

  test('without an address it is refused', async () => {
    const { fleet } = acme()
    const folder = write(scratch(), fleetFiles('acme/dev-team'))
    expect(await run(folder, 'check', '--fleet', fleet)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--url'),
    })
    expect(await run(folder, 'check', '--fleet', fleet, '--url', DEV)).toMatchObject({ code: 0 })
  })
})

describe('onboard', () => {
  const args = [
    'onboard',
    'ops-team',
    '--repo',
    'https://github.com/acme/ops-team',
    '--namespace',
    'ops',
    '--cluster',
    'staging',
  ]

  test('writes files that pass the check, once', async () => {
    const { fleet } = acme()
    const ran = await run(fleet, ...args)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(git(fleet, 'status', '--porcelain', '--untracked-files=all').trimEnd().split('\n').sort()).toEqual([
      ' M tenants/staging/kustomization.yaml',
      '?? tenants/base/ops-team/kustomization.yaml',
      '?? tenants/base/ops-team/rbac.yaml',
      '?? tenants/base/ops-team/sync.yaml',
      '?? tenants/base/tenant-role/cluster-roles.yaml',
      '?? tenants/base/tenant-role/kustomization.yaml',
    ])
    const checked = await run(fleet, 'check', '--base', 'HEAD', '-o', 'json')
    expect([checked.code, json(checked).violations]).toEqual([0, []])
    expect(json(checked).tenants.map((tenant: { name: string }) => tenant.name)).toEqual(['dev-team', 'ops-team'])
    expect((await run(fleet, ...args)).stdout).toContain('nothing to do')
  })

  test('a refusal writes nothing', async () => {
    const { fleet } = acme()
    const ran = await run(fleet, ...args.map(arg => (arg === 'ops' ? 'sandbox' : arg)))
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error\[onboard-input\]: namespace "sandbox"/),
    })
    expect(git(fleet, 'status', '--porcelain')).toBe('')
  })

  test('never writes through a link', async () => {
    const { fleet } = acme()
    const outside = scratch()
    cpSync(join(fleet, 'tenants/base'), join(outside, 'base'), { recursive: true })
    rmSync(join(fleet, 'tenants/base'), { recursive: true })
    symlinkSync(join(outside, 'base'), join(fleet, 'tenants/base'))
    expect((await run(fleet, ...args)).code).toBe(2)
    expect(existsSync(join(outside, 'base/ops-team'))).toBe(false)
  })
})

const shared = join(import.meta.dirname, '../../../../shared/fleets/flux2-multi-tenancy')

test('the reference fleet passes with its tenant on a branch of its own address', async ({ skip }) => {
  if (!existsSync(shared)) return skip('no reference fleet beside the project')
  const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
  const ran = await run(
    join(shared, 'fleet'),
    'check',
    '--url',
    url,
    '--repo',
    `${url}#dev-team=../dev-team`,
    '-o',
    'json',
  )
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(json(ran)).toMatchObject({ result: 'pass', tenants: [{ name: 'dev-team', namespaces: ['apps'] }] })
})

describe('required approvals', () => {
  test('are named, in the first line too; with --fail-on-required-approval they are exit code 1', async () => {
    const { fleet } = acme()
    write(fleet, { '.github/bailiwick.yaml': 'profile: restricted\n', '.github/workflows/x.yaml': 'on: push\n' })
    const plain = await run(fleet, 'check', '--base', 'HEAD')
    expect(plain.code).toBe(0)
    expect(plain.stdout).toMatch(/^\.github\/bailiwick\.yaml: required approval\[gate-config-change\]: /m)
    expect(plain.stdout).toMatch(
      /^Passed\. .*A fleet admin must approve the change: This changes .github\/bailiwick.yaml.* \(and 1 more\)/m,
    )
    const strict = await run(fleet, 'check', '--base', 'HEAD', '--fail-on-required-approval', '-o', 'json')
    expect([strict.code, json(strict).result]).toEqual([1, 'pass'])
    expect(json(strict).requiredApprovals.map(({ path }: { path: string }) => path)).toEqual([
      '.github/bailiwick.yaml',
      '.github/workflows/x.yaml',
    ])
    git(fleet, 'add', '--all')
    git(fleet, 'commit', '--quiet', '-m', 'file')
    expect((await run(fleet, 'check', '--base', 'HEAD', '--fail-on-required-approval')).code).toBe(0)
  })

  test('a new remote file of the platform is one; an existing one is listed as not visible', async () => {
    const { fleet } = acme()
    const paths = ['staging', 'production'].map(name => `clusters/${name}/flux-system/kustomization.yaml`)
    const open = paths.map(path => [
      path,
      fleetFiles('acme/fleet')[path]!.replace('-remote-bases=true', '-remote-bases=false'),
    ])
    write(fleet, Object.fromEntries(open))
    git(fleet, 'commit', '--quiet', '--all', '-m', 'open')
    const path = 'infrastructure/kustomization.yaml'
    const remote = 'https://example.com/crds.yaml'
    write(fleet, { [path]: fleetFiles('acme/fleet')[path]!.replace('resources:\n', `resources:\n  - ${remote}\n`) })
    const added = json(await run(fleet, 'check', '--base', 'HEAD', '-o', 'json'))
    expect(added).toMatchObject({
      result: 'pass',
      errors: [],
      requiredApprovals: [{ rule: 'kustomize-remote-base', path }],
    })
    expect(added.notSeen).toContainEqual(expect.objectContaining({ url: remote }))
    expect(added.evaluated.holes).toBe(1)
    git(fleet, 'commit', '--quiet', '--all', '-m', 'remote')
    const standing = json(await run(fleet, 'check', '--base', 'HEAD', '-o', 'json'))
    expect(standing).toMatchObject({ result: 'pass', requiredApprovals: [] })
    expect(standing.notSeen).toContainEqual(expect.objectContaining({ url: remote }))
  })
})
