import { expect, test } from 'vitest'
import type { Evaluation } from '../../../src/rules/model/finding.ts'
import { approve } from '../../../src/verdict/approve.ts'
import { evaluationOf, type Given, said } from '../../fleet/fleet-of.ts'
import { FLEET_URL, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const FILE = '.github/bailiwick.yaml'
const config = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: kube-system\n`
/** Of ConfigMap kube-system/x on staging, whose namespace is kube-system. */
const ACCEPTED = '7066ef43c4acb4d572a8715ab2826744'
const waiver = (more = '', name = 'x', expires = '2026-06-30') =>
  `waivers:
  - rule: namespace-confinement
    object: {kind: ConfigMap, namespace: kube-system, name: ${name}}
    violations: [{fingerprint: ${ACCEPTED}, severity: critical}]
    reason: moves in May
    approver: "@acme/platform"
    expires: ${expires}${more}
`
const given = (file?: string, name = 'x'): Given =>
  miniFleet({ dev: withResource(config(name)), ...(file === undefined ? {} : { fleet: { [FILE]: file } }) })
const today = '2026-06-30'

test('a waiver holds up to its last day, and nobody who does not know the day counts it', () => {
  const { verdict } = evaluationOf(given(waiver()), { today })
  expect(verdict).toMatchObject({ result: 'pass', warnings: [], violations: [{ state: 'waived' }] })
  expect(verdict.violations[0]?.message).toContain('Waived until 2026-06-30 by "@acme/platform": "moves in May".')
  const granted = { expires: '2026-06-30', approver: '@acme/platform', reason: 'moves in May' }
  expect(verdict.violations[0]?.waiver).toEqual(granted)
  const late = evaluationOf(given(waiver()), { today: '2026-07-01' }).verdict
  expect(late).toMatchObject({ result: 'fail', violations: [{ state: 'new' }] })
  expect(late.violations[0]?.message).toContain('(.github/bailiwick.yaml:2) has expired: it ended on 2026-06-30')
  expect(evaluationOf(given(waiver())).verdict.result).toBe('fail')
  expect(evaluationOf(given(waiver()), { today: 'someday' }).verdict.result).toBe('fail')
})

test.each([
  ['nobody accepted', waiver().replace('    approver: "@acme/platform"\n', '')],
  ['only who asked for it accepted', waiver().replace('approver: "@', 'requester: Acme/Platform\n    approver: "@')],
])('a waiver that %s counts for nothing, and the violation says so', (_who, file) => {
  const { verdict } = evaluationOf(given(file), { today })
  expect(verdict).toMatchObject({ result: 'fail', violations: [{ state: 'new' }], warnings: [] })
  expect(verdict.violations[0]?.message).toContain(
    '(.github/bailiwick.yaml:2) has no effect: only its requester has accepted it',
  )
})

test('a waiver that somebody else accepted holds', () => {
  const file = waiver().replace('approver: "@acme/platform"', 'requester: dora\n    approver: ada')
  const { verdict } = evaluationOf(given(file), { today })
  expect(verdict).toMatchObject({ result: 'pass', violations: [{ state: 'waived' }] })
  expect(verdict.violations[0]?.message).toContain('by "ada"')
})

test('another day is another revisionSet, but only where a waiver begins or ends to hold', () => {
  const on = (day: string) => evaluationOf(given(waiver()), { today: day }).verdict.revisionSet
  expect(on('2026-01-01')).toBe(on('2026-06-30'))
  expect(on('2026-07-01')).not.toBe(on('2026-06-30'))
  const without = (day: string) => evaluationOf(given(), { today: day }).verdict.revisionSet
  expect(without('2026-07-01')).toBe(without('2026-06-30'))
})

test('an unused waiver that somebody requested is listed once it has ended: its pull request may be open', () => {
  const unused = (file: string, day: string) =>
    evaluationOf(given(file), { today: day }).verdict.warnings.map(({ rule }) => rule)
  const requested = waiver('', 'y').replace('approver: ', 'requester: dora\n    approver: ')
  expect(unused(requested, '2026-06-30')).toEqual([])
  expect(unused(requested, '2026-07-01')).toEqual(['waiver-unused'])
  expect(unused(waiver('', 'y'), '2026-06-30')).toEqual(['waiver-unused'])
})

test.each([
  ['rule', waiver().replace('namespace-confinement', 'sa-required')],
  ['kind', waiver().replace('ConfigMap', 'Secret')],
  ['group', waiver().replace('ConfigMap', 'apps/ConfigMap')],
  ['namespace', waiver().replace('kube-system', 'kube-public')],
  ['name', waiver('', 'y')],
  ['cluster', waiver('\n    cluster: production')],
])('a waiver of another %s is none, and is said to be unused', (_what, file) => {
  const { verdict } = evaluationOf(given(file), { today })
  expect(verdict).toMatchObject({
    result: 'fail',
    violations: [{ state: 'new' }],
    warnings: [{ rule: 'waiver-unused', severity: 'low', state: 'new', origin: { file: FILE, line: 2 } }],
  })
  expect(verdict.violations[0]?.message).not.toContain('aive')
})

test('an unused waiver of one cluster is reported there', () => {
  const files = Object.entries(miniFleet().fleet).filter(([path]) => path.startsWith('clusters/'))
  const earlier = files.map(file => file.map(text => String(text).replaceAll('clusters/staging', 'clusters/first')))
  const fleet = { ...Object.fromEntries(earlier), [FILE]: waiver('\n    cluster: staging', 'y') }
  const { verdict } = evaluationOf(miniFleet({ fleet }), { today })
  expect(verdict.clusters.map(({ name }) => name)).toEqual(['first', 'staging'])
  expect(verdict.warnings).toMatchObject([{ rule: 'waiver-unused', cluster: 'staging' }])
})

test('it names a cluster or a group where that matters', () => {
  for (const file of [waiver('\n    cluster: staging'), waiver().replace('kind: ConfigMap', 'kind: ConfigMap ')])
    expect(evaluationOf(given(file), { today }).verdict.result).toBe('pass')
})

test('a change is judged by the waivers of its base, and an unused one stands', () => {
  expect(said(evaluationOf(given(waiver()), { base: miniFleet(), today }))).toEqual([
    'namespace-confinement deploy/extra.yaml:5',
  ])
  const base = miniFleet({ fleet: { [FILE]: waiver() } })
  const { verdict } = evaluationOf(given(waiver()), { base, today })
  expect(verdict).toMatchObject({ result: 'pass', violations: [{ state: 'waived' }] })
  const unused = evaluationOf(base, { base, today }).verdict
  expect(unused).toMatchObject({ result: 'pass', warnings: [{ rule: 'waiver-unused', state: 'standing' }] })
  const mended = evaluationOf(base, { base: given(waiver()), today }).verdict
  expect(mended).toMatchObject({
    warnings: [{ rule: 'waiver-unused', state: 'new' }],
    violations: [{ state: 'fixed' }],
  })
})

test('beside a waived remote base what is there is evaluated, and another one is not waived', () => {
  const remote = (more = '') => ({ 'deploy/kustomization.yaml': `resources:\n  - https://example.com/x.yaml\n${more}` })
  let file = ''
  const world = (more = '') => miniFleet({ dev: remote(more), fleet: { [FILE]: file } })
  const [remoteBase] = evaluationOf(world()).verdict.violations
  file = `waivers:
  - rule: kustomize-remote-base
    object: {kind: Kustomization, namespace: apps, name: dev-team}
    violations: [{fingerprint: ${remoteBase?.fingerprint}}]
    reason: r
    approver: a
    expires: 2026-06-30
`
  expect(evaluationOf(world(), { base: world(), today }).verdict).toMatchObject({ violations: [{ state: 'waived' }] })
  expect(evaluationOf(world('  - web.yaml\n'), { base: world(), today }).verdict.result).toBe('pass')
  expect(evaluationOf(world('  - https://example.com/y.yaml\n'), { base: world(), today }).verdict.result).toBe('fail')
})

test('a waiver accepts the value that it lists: another one of the same field is new, and says what to add', () => {
  const pod = (path: string) =>
    miniFleet({
      dev: withResource(
        `apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: apps}\nspec: {containers: [{name: a, image: b}], volumes: [{name: v, hostPath: {path: ${path}}}]}\n`,
      ),
      fleet: { [FILE]: text },
    })
  let text = ''
  const [log] = evaluationOf(pod('/var/log')).verdict.violations
  text = `waivers:
  - rule: pod-security
    object: {kind: Pod, namespace: apps, name: x}
    violations: [{fingerprint: ${log?.fingerprint}, severity: critical}]
    reason: r
    approver: a
    expires: 2026-06-30
`
  expect(evaluationOf(pod('/var/log'), { base: pod('/var/log'), today }).verdict.violations).toMatchObject([
    { state: 'waived' },
  ])
  for (const options of [{ today }, { today, base: pod('/var/log') }]) {
    const { verdict } = evaluationOf(pod('/'), options)
    const worse = verdict.violations.find(({ state }) => state === 'new')
    expect(verdict.result).toBe('fail')
    expect(worse?.message).toContain(
      `(.github/bailiwick.yaml:2) does not accept this value. To accept it, add {fingerprint: "${worse?.fingerprint}", severity: critical}`,
    )
  }
  text = text.replace('severity: critical', 'severity: high')
  expect(evaluationOf(pod('/var/log'), { today }).verdict.result, 'more severe than accepted').toBe('fail')
  text = text.replace(/ {4}violations: .*\n/, '')
  expect(evaluationOf(pod('/var/log'), { today }).verdict.result, 'a waiver that lists nothing').toBe('fail')
})

/** Keys of the nodes that the worker would apply. */
function applied(evaluation: Evaluation, baseline: readonly string[] = []): string[] {
  const { nodes, verdict } = evaluation
  const { revisionSet } = verdict
  const commits = new Map(nodes.map(({ source }) => [source.url, source.commit]))
  const heads = {
    revisionSet,
    complete: true,
    fleet: { url: FLEET_URL, branch: 'main', commit: commits.get(FLEET_URL) ?? '' },
    sources: [...commits].map(([url, commit]) => ({ url, ref: { branch: 'main' }, commit })),
  }
  const binding = { cluster: 'staging', fleet: FLEET_URL, branch: 'main' }
  return approve({ binding, evaluated: { revisionSet, nodes, baseline }, heads }).apply.map(node => node.name)
}

test('a waived violation does not hold its node back, an expired one does', () => {
  expect(applied(evaluationOf(given(waiver()), { today }))).toContain('dev-team')
  expect(applied(evaluationOf(given(waiver()), { today: '2026-07-01' }))).not.toContain('dev-team')
  expect(applied(evaluationOf(given(waiver())))).not.toContain('dev-team')
})

test('what stands in the baseline is applied, what got worse since is not, nor what only a base had', () => {
  const { verdict } = evaluationOf(given())
  const [{ fingerprint, severity }] = verdict.violations as [(typeof verdict.violations)[0]]
  expect(severity).toBe('critical')
  const standing = evaluationOf(given(), { baseline: new Map([[fingerprint, { severity }]]) })
  expect(applied(standing, [fingerprint])).toContain('dev-team')
  const worse = evaluationOf(given(), { baseline: new Map([[fingerprint, { severity: 'high' as const }]]) })
  expect(worse.verdict).toMatchObject({ result: 'fail', violations: [{ state: 'new' }] })
  expect(applied(worse, [fingerprint])).not.toContain('dev-team')
  expect(applied(evaluationOf(given(), { base: given() }))).not.toContain('dev-team')
})
