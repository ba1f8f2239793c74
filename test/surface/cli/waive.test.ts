import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { repository, run, scratch, write } from './run-main.ts'

const DEV = 'https://github.com/acme/dev-team'
const FILE = '.github/bailiwick.yaml'
const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: sandbox}\n`

/** The fleet with what its tenant may not do, and a command in the folder of either. */
function world() {
  const root = scratch()
  const fleet = repository(join(root, 'fleet'), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')
  const tenant = repository(join(root, 'dev-team'), fleetFiles('acme/dev-team'), DEV)
  const kustomization = fleetFiles('acme/dev-team')['staging/kustomization.yaml']!
  write(tenant, {
    'staging/a.yaml': map('a'),
    'staging/b.yaml': map('b'),
    'staging/kustomization.yaml': kustomization.replace('resources:\n', 'resources:\n  - a.yaml\n  - b.yaml\n'),
  })
  const file = () => readFileSync(join(fleet, FILE), 'utf8')
  const bailiwick = (...argv: string[]) => run(fleet, ...argv)
  const ofTenant = (...argv: string[]) => run(tenant, ...argv, '--fleet', fleet)
  return { fleet, tenant, bailiwick, ofTenant, file, repo: ['--repo', `${DEV}=${tenant}`] }
}

const RULE = 'namespace-confinement'
const TERMS = ['--reason', 'moves next week', '--requester', 'dora', '--approver', 'ada']

test('a finding of check is waived as the command that it prints says, and only it', async () => {
  const { bailiwick, file, repo } = world()
  const found = await bailiwick('check', ...repo)
  expect(found.code).toBe(1)
  const [, printed = ''] = /^ {2}waive {4}(bailiwick waive \S+ \S+) --reason TEXT$/m.exec(found.stdout) ?? []
  expect(printed).toBe(`bailiwick waive ${RULE} ConfigMap/sandbox/a`)
  const done = await bailiwick(...printed.split(' ').slice(1), ...TERMS, ...repo)
  expect([done.code, done.stderr]).toEqual([0, ''])
  expect(done.stdout).toContain(`waived ${RULE}: ConfigMap sandbox/a on staging`)
  expect(file()).toMatch(/reason: "moves next week"\n {4}requester: dora\n {4}approver: ada\n/)
  const after = await bailiwick('check', ...repo)
  expect(after.stdout).toMatch(/^fail: 1 violation in dev-team \(staging\)\. 1 waived violation\./m)
  expect(after.stdout).not.toContain('sandbox/a --')
})

test('from the repository of the tenant it is written in the fleet, by fingerprint too', async () => {
  const { ofTenant, file, tenant } = world()
  const { violations } = JSON.parse((await ofTenant('check', '-o', 'json')).stdout)
  expect((await ofTenant('waive', violations[0].fingerprint.slice(0, 12), ...TERMS)).code).toBe(0)
  expect(file()).toContain(violations[0].fingerprint)
  expect(file()).not.toContain(violations[1].fingerprint)
  expect(existsSync(join(tenant, FILE))).toBe(false)
})

test('--list says which hold, and --remove leaves the rest of the file as it is', async () => {
  const { fleet, bailiwick, file, repo } = world()
  const text = '# ours\nenforcement: block\n'
  write(fleet, { [FILE]: `${text}# below\nunseenChanges: list\n` })
  const before = file()
  await bailiwick('waive', RULE, 'ConfigMap/sandbox/a', ...TERMS, ...repo)
  const open = await bailiwick('waive', RULE, 'ConfigMap sandbox/b', ...TERMS.slice(0, 4), ...repo)
  expect(open.stdout).toContain('It has no effect until a fleet admin is its approver')
  const { stdout } = await bailiwick('waive', '--list')
  expect(stdout).toMatch(
    /ConfigMap sandbox\/a +staging +\S+ +holds\n.*ConfigMap sandbox\/b +staging +\S+ +no approver\n/,
  )
  const one = await bailiwick('waive', '--remove', RULE, 'ConfigMap/sandbox/a')
  expect([one.code, one.stdout]).toEqual([
    0,
    expect.stringContaining(`removed ${RULE}: ConfigMap sandbox/a on staging`),
  ])
  expect(file()).not.toContain('name: a\n')
  expect(file()).toContain('name: b\n')
  expect((await bailiwick('waive', '--remove', RULE)).code).toBe(0)
  expect(file()).toBe(before)
})

test.for<[string, string[], RegExp]>([
  ['no rule', [], /FINDING or RULE is missing/],
  [
    'an unknown rule',
    ['nothing', 'ConfigMap/sandbox/a'],
    /no violation of rule "nothing"\. Rules with violations: namespace-confinement\./,
  ],
  ['a rule without its object', [RULE], /OBJECT is missing\. Objects: ConfigMap sandbox\/a, ConfigMap sandbox\/b\./],
  [
    'another object',
    [RULE, 'ConfigMap/sandbox/c'],
    /no violation of rule "namespace-confinement" of ConfigMap sandbox\/c\./,
  ],
  ['no reason', [RULE, 'ConfigMap/sandbox/a', '--requester', 'dora'], /a reason is needed/],
  [
    'a day that is over',
    [RULE, 'ConfigMap/sandbox/a', ...TERMS, '--until', '2020-01-01'],
    /2020-01-01 is in the past\. Write a date from/,
  ],
  ['what was never waived', ['--remove', RULE], /no waiver for "namespace-confinement"\. bailiwick waive --list/],
])('%s is refused, and nothing is written', async ([, argv, says]) => {
  const { fleet, bailiwick, repo } = world()
  const { code, stderr } = await bailiwick('waive', ...argv, ...repo)
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
  expect(existsSync(join(fleet, FILE))).toBe(false)
})
