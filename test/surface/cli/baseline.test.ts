import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { git, repository, run, scratch, write } from './run-main.ts'

const DEV = 'https://github.com/acme/dev-team'
const FILE = '.github/bailiwick-baseline.yaml'
const foreign = (name: string, namespace = 'sandbox') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`

/** The fleet, its tenant with two objects of a foreign namespace, and a command that reads both. */
function legacy() {
  const root = scratch()
  const fleet = repository(join(root, 'fleet'), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')
  const tenant = repository(join(root, 'dev-team'), fleetFiles('acme/dev-team'))
  trespass(tenant, { 'staging/b.yaml': foreign('b'), 'staging/a.yaml': foreign('a') })
  const bailiwick = (...argv: string[]) => run(fleet, ...argv, '--repo', `${DEV}=${tenant}`)
  return { fleet, tenant, bailiwick, file: () => readFileSync(join(fleet, FILE), 'utf8') }
}

function trespass(tenant: string, files: Record<string, string>): void {
  const kustomization = fleetFiles('acme/dev-team')['staging/kustomization.yaml']!
  const names = Object.keys(files).map(path => `  - ${path.replace('staging/', '')}\n`)
  write(tenant, {
    ...files,
    'staging/kustomization.yaml': kustomization.replace('resources:\n', `resources:\n${names.join('')}`),
  })
}

test('what stands is written down, and stands from then on', async () => {
  const { bailiwick, file } = legacy()
  expect((await bailiwick('check')).code).toBe(1)
  const written = await bailiwick('baseline')
  expect([written.code, written.stderr]).toEqual([0, ''])
  expect(written.stdout).toContain(`${FILE}: 2 existing, 2 more than before, 0 no longer needed`)
  expect(file()).toMatch(
    /^ {2}- fingerprint: "[0-9a-f]{32}"\n {4}severity: "critical"\n {4}rule: "namespace-confinement"\n/m,
  )
  expect(file().indexOf('ConfigMap sandbox/a')).toBeLessThan(file().indexOf('ConfigMap sandbox/b'))
  expect((await bailiwick('check')).code).toBe(0)
  expect((await bailiwick('baseline', '--check')).code).toBe(0)
})

test('it is the same file for the same violations, wherever their lines are', async () => {
  const { tenant, bailiwick, file } = legacy()
  await bailiwick('baseline')
  const first = file()
  write(tenant, { 'staging/a.yaml': `# moved\n${foreign('a')}` })
  trespass(tenant, { 'staging/z.yaml': foreign('b'), 'staging/a.yaml': `\n\n${foreign('a')}` })
  await bailiwick('baseline')
  expect(file()).toBe(first)
})

test('where there is nothing to list, no file is written', async () => {
  const { fleet, tenant } = legacy()
  git(tenant, 'checkout', '--quiet', '.')
  const { code, stdout } = await run(fleet, 'baseline', '--repo', `${DEV}=${tenant}`)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/\nnothing to list, so no file was written\n$/)])
  expect(existsSync(join(fleet, FILE))).toBe(false)
})

test('--check writes nothing, and fails where the file would grow', async () => {
  const { fleet, tenant, bailiwick, file } = legacy()
  const missing = await bailiwick('baseline', '--check')
  expect(missing.code).toBe(1)
  expect(missing.stdout).toContain('+ namespace-confinement (staging/apps/dev-team): ConfigMap sandbox/a')
  expect(existsSync(join(fleet, FILE))).toBe(false)
  await bailiwick('baseline')
  trespass(tenant, { 'staging/a.yaml': foreign('a', 'kube-system') })
  const changed = await bailiwick('baseline', '--check')
  expect([changed.code, changed.stdout]).toEqual([
    1,
    expect.stringContaining('1 existing, 1 more than before, 2 no longer needed'),
  ])
  trespass(tenant, {})
  const fewer = await bailiwick('baseline', '--check')
  expect([fewer.code, fewer.stdout]).toEqual([
    0,
    expect.stringContaining('0 existing, 0 more than before, 2 no longer needed'),
  ])
  await bailiwick('baseline')
  expect(file()).toMatch(/^violations: \[\]$/m)
})

test('reasons stay, and so does what could not be looked at', async () => {
  const { tenant, fleet, bailiwick, file } = legacy()
  await bailiwick('baseline')
  write(fleet, { [FILE]: file().replace(/(ConfigMap sandbox\/a"\n.*\n)/, '$1    reason: "moves \\u00fcber Ostern"\n') })
  await bailiwick('baseline')
  expect(file()).toContain('reason: "moves \\u00fcber Ostern"')
  const before = [...file().matchAll(/"([0-9a-f]{32})"/g)].map(match => match[1]).sort()
  trespass(tenant, { 'staging/a.yaml': 'a: [\n' })
  const broken = await bailiwick('baseline')
  expect(broken.code).toBe(0)
  expect(broken.stderr).toMatch(/^error\[yaml-[a-z]+\]: /)
  const [violations, errors] = file().split('\nerrors:')
  expect([...violations!.matchAll(/"([0-9a-f]{32})"/g)].map(match => match[1]).sort()).toEqual(before)
  expect(errors).toMatch(/hides: \["[0-9a-f]{64}"\]\n {4}code: "yaml-[a-z]+"/)
  expect((await bailiwick('baseline', '--check')).code).toBe(0)
  trespass(tenant, { 'staging/a.yaml': 'a: [ 1\n' })
  expect((await bailiwick('baseline', '--check')).code).toBe(2)
})

test('what is waived is not written down, what is only reported on is', async () => {
  const { fleet, bailiwick, file } = legacy()
  await bailiwick('baseline')
  const fingerprint = /- fingerprint: ("\w+")\n(?: {4}.*\n)*? {4}object: "ConfigMap sandbox\/a"/.exec(file())?.[1]
  rmSync(join(fleet, FILE))
  const waiver = `waivers:
  - rule: namespace-confinement
    object: {kind: ConfigMap, namespace: sandbox, name: a}
    violations: [{fingerprint: ${fingerprint}}]
    reason: r
    approver: a
    expires: 2099-12-31
`
  write(fleet, { '.github/bailiwick.yaml': `enforcement: report\n${waiver}` })
  expect((await bailiwick('check')).code).toBe(0)
  await bailiwick('baseline')
  expect(file()).toContain('ConfigMap sandbox/b')
  expect(file()).not.toContain('ConfigMap sandbox/a')
})

test('a change that lets the file grow says by how much; one that breaks it is an error', async () => {
  const { fleet, bailiwick, file } = legacy()
  await bailiwick('baseline')
  const grown = await bailiwick('check', '--base', 'HEAD')
  expect(grown.code).toBe(0)
  expect(grown.stdout).toContain('warning[baseline-growth]: .github/bailiwick-baseline.yaml has 2 new entries')
  git(fleet, 'add', '--all')
  git(fleet, 'commit', '--quiet', '-m', 'baseline')
  expect((await bailiwick('check', '--base', 'HEAD')).stdout).not.toContain('baseline-growth')
  write(fleet, { [FILE]: file().replace('critical', 'low') })
  expect((await bailiwick('check', '--base', 'HEAD')).stdout).toContain('has 1 new entry')
  write(fleet, { [FILE]: 'violations: all\n' })
  const broken = await bailiwick('check', '--base', 'HEAD')
  expect([broken.code, broken.stdout]).toEqual([2, expect.stringContaining('violations is not a list')])
})

test.each([
  ['two directories', ['a', 'b']],
  ['an unknown option', ['--base', 'main']],
])('%s is bad usage', async (_what, argv) => {
  expect(await run(scratch(), 'baseline', ...argv)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error\[usage\]/),
  })
})

test('a folder without clusters, and a link in place of the file, are refused', async () => {
  expect(await run(scratch(), 'baseline')).toMatchObject({ code: 2 })
  const { fleet, tenant, bailiwick } = legacy()
  symlinkSync(tenant, join(fleet, '.github'))
  expect((await bailiwick('baseline')).code).toBe(2)
  expect(existsSync(join(tenant, 'bailiwick-baseline.yaml'))).toBe(false)
})
