import { expect, test } from 'vitest'
import { evaluationOf, said } from '../fleet/fleet-of.ts'
import { miniFleet, withResource } from '../fleet/mini-fleet.ts'

const config = (namespace: string, name = 'x', data = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n${data}`
const legacy = miniFleet({ dev: withResource(config('kube-system')) })

test('what the base has stands, and does not decide', () => {
  const { verdict } = evaluationOf(legacy, { base: legacy })
  expect(verdict.result).toBe('pass')
  expect(verdict.violations.map(one => one.state)).toEqual(['standing'])
  expect(verdict.summary).toContain('1 existing violation')
})

test('neither a moved line, another file nor another version makes it new', () => {
  const moved = miniFleet({ dev: withResource(`# moved\n\n${config('kube-system')}`, 'other.yaml') })
  expect(evaluationOf(moved, { base: legacy }).verdict.result).toBe('pass')
})

test('another target, another object or another tenant is new', () => {
  expect(evaluationOf(miniFleet({ dev: withResource(config('ops')) }), { base: legacy }).verdict.result).toBe('fail')
  expect(
    evaluationOf(miniFleet({ dev: withResource(config('kube-system', 'y')) }), { base: legacy }).verdict.result,
  ).toBe('fail')
  const ops = {
    'deploy/kustomization.yaml': 'resources: [config.yaml, x.yaml]\n',
    'deploy/x.yaml': config('kube-system'),
  }
  const both = miniFleet({ dev: withResource(config('kube-system')), ops })
  const { verdict } = evaluationOf(both, { base: legacy })
  expect(verdict.violations.map(one => [one.tenant, one.rule, one.state])).toEqual([
    ['dev-team', 'namespace-confinement', 'standing'],
    ['ops-team', 'ownership-conflict', 'new'],
    ['ops-team', 'namespace-confinement', 'new'],
  ])
})

test('what was corrected is listed as fixed', () => {
  const { verdict, nodes } = evaluationOf(miniFleet(), { base: legacy })
  expect(verdict).toMatchObject({ result: 'pass', violations: [{ state: 'fixed' }] })
  expect(nodes.flatMap(node => node.findings)).toEqual([])
})

test('an empty commit does not launder a violation: without a base everything outside the baseline is new', () => {
  expect(evaluationOf({ ...legacy, commit: 'e'.repeat(40) }).verdict.result).toBe('fail')
  const baseline = new Map(evaluationOf(legacy).verdict.violations.map(one => [one.fingerprint, {}]))
  expect(evaluationOf(legacy, { baseline }).verdict).toMatchObject({
    result: 'pass',
    violations: [{ state: 'standing' }],
  })
})

const broken = (more = '') =>
  miniFleet({ dev: { 'deploy/kustomization.yaml': `resources:\n  - web.yaml\n  - missing.yaml\n${more}` } })

test('a standing error decides only where the change touches what it hides', () => {
  expect(evaluationOf(broken()).verdict.result).toBe('error')
  expect(evaluationOf(broken(), { base: miniFleet() }).verdict.result).toBe('error')
  expect(evaluationOf(broken(), { base: broken() }).verdict.result).toBe('pass')
  expect(evaluationOf(broken('# touched\n'), { base: broken() }).verdict.result).toBe('error')
  const elsewhere = { ...broken(), fleet: { ...broken().fleet, 'docs/readme.md': 'x' } }
  expect(evaluationOf(elsewhere, { base: broken() }).verdict.result).toBe('pass')
})

test('an error of one directory is not touched by a change of another one in the same repository', () => {
  const other = (content: string) => ({
    ...broken(),
    sources: broken().sources!.map(one => ({ ...one, files: { ...one.files, 'other/a.yaml': content } })),
  })
  expect(evaluationOf(other('b'), { base: other('a') }).verdict.result).toBe('pass')
})

/** What dev-team may not apply, in a file beside its own. */
const withStray = (given: ReturnType<typeof miniFleet>) => ({
  ...given,
  sources: given.sources!.map(one => ({ ...one, files: { ...one.files, 'deploy/stray.yaml': config('kube-system') } })),
})

test('a standing remote base does not hide what comes behind it', () => {
  const remote = (more = '') =>
    miniFleet({ dev: { 'deploy/kustomization.yaml': `resources:\n  - https://example.com/x.yaml\n${more}` } })
  expect(evaluationOf(remote(), { base: remote() }).verdict.result).toBe('pass')
  expect(evaluationOf(remote('  - web.yaml\n'), { base: remote() }).verdict.result).toBe('pass')
  expect(said(evaluationOf(remote('  - https://example.com/y.yaml\n'), { base: remote() }))).toEqual([
    'kustomize-remote-base deploy/kustomization.yaml:3',
  ])
  const stray = withStray(remote('  - stray.yaml\n'))
  expect(said(evaluationOf(stray, { base: remote() }))).toEqual(['namespace-confinement deploy/stray.yaml:5'])
})

test('one tenant’s error leaves the others judged', () => {
  const { verdict, nodes } = evaluationOf(broken())
  expect(verdict.errors).toMatchObject([
    { node: 'staging/apps/dev-team', tenant: 'dev-team', origin: { file: 'deploy/kustomization.yaml', line: 3 } },
  ])
  expect(nodes.find(node => node.key === 'staging/ops/ops-team')).toMatchObject({ failures: [], findings: [] })
})

test('the same input gives the same evaluation', () => {
  expect(JSON.stringify(evaluationOf(broken()))).toBe(JSON.stringify(evaluationOf(broken())))
  expect(() => structuredClone(evaluationOf(legacy))).not.toThrow()
})

test('a repository without clusters is no pass', () => {
  expect(evaluationOf({ fleet: { 'README.md': 'x' } }).verdict).toMatchObject({
    result: 'error',
    errors: [{ code: 'path-not-found' }],
  })
})
