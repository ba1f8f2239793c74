import { describe, expect, test } from 'vitest'
import { BailiwickError, type ErrorCode } from '../../../src/base/errors.ts'
import type { Fleet, FleetNode } from '../../../src/fleet/model/fleet.ts'
import type { Hole } from '../../../src/kube/object.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { DEV_URL, FLEET_URL, fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const ADMIN = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everybody}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
`
const TENANTS = 'staging/flux-system/tenants'
const ROOT = 'staging/flux-system/flux-system'
const DEV = 'staging/apps/dev-team'

interface Cause {
  readonly code?: ErrorCode
  readonly message?: string
  readonly file?: string
  readonly line?: number
  readonly hides?: string
  readonly fatal?: boolean
  readonly repository?: string
}

function hole({ code = 'kustomize-unsupported', message, file, line, hides, fatal, repository }: Cause = {}): Hole {
  const origin = { repository: repository ?? FLEET_URL, file: file ?? 'tenants/x.yaml', line: line ?? 3, column: 1 }
  const text = message ?? 'field "x" is not supported'
  const error = new BailiwickError(code, text, { origin, fix: 'Remove the field.' })
  return { error, fatal: fatal ?? false, effect: 'missing', hides: hides ?? 'a'.repeat(64) }
}

/** A fleet whose nodes were built with these holes, as a lenient build leaves them. */
function withHoles(fleet: Fleet, holes: Readonly<Record<string, readonly Hole[]>>): Fleet {
  return {
    ...fleet,
    nodes: fleet.nodes.map((node): FleetNode => {
      const own = holes[node.key]
      if (!own) return node
      const error = own.find(({ fatal }) => fatal)?.error
      return { ...node, holes: own, digest: '', ...(error ? { error } : {}) }
    }),
  }
}

const fleet = (tenants: Readonly<Record<string, string>> = {}) => fleetOf(miniFleet({ fleet: tenants }))
/** The same on a second cluster. */
const onTwoClusters = () => {
  const files = Object.entries(fleetFiles).filter(([path]) => path.startsWith('clusters/'))
  const again = (text: string) => text.replaceAll('clusters/staging', 'clusters/production')
  return fleet(Object.fromEntries(files.map(([path, text]) => [again(path), again(text)])))
}
const evaluated = (head: Fleet, base?: Fleet, baseline = {}) =>
  evaluateFleet(head, { revisionSet: 'c', ...(base ? { base } : {}), ...baseline }).verdict
const states = (head: Fleet, base?: Fleet) => evaluated(head, base).errors.map(({ state }) => state)
const withMore = (text: string) =>
  fleet({
    'tenants/kustomization.yaml': 'resources: [dev-team.yaml, ops-team.yaml, more.yaml]\n',
    'tenants/more.yaml': text,
  })
const withAdmin = () => withMore(ADMIN)

describe('an error that stood before', () => {
  const standing = { [TENANTS]: [hole()] }

  test('stands, whatever else changes in its node', () => {
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n'
    const head = withHoles(withMore(namespace), standing)
    expect(evaluated(head, withHoles(fleet(), standing))).toMatchObject({
      result: 'pass',
      errors: [{ state: 'standing' }],
    })
  })

  test('does not let a new finding beside it pass', () => {
    const verdict = evaluated(withHoles(withAdmin(), standing), withHoles(fleet(), standing))
    expect(verdict.result).toBe('fail')
    expect(verdict.violations.filter(({ state }) => state === 'new')).not.toEqual([])
  })

  test('and that Flux shares does not either: only a change without findings passes, and says that nothing is applied', () => {
    const fatal = { [TENANTS]: [hole({ code: 'kustomize-missing', fatal: true })] }
    expect(evaluated(withHoles(withAdmin(), fatal), withHoles(fleet(), fatal)).result).toBe('fail')
    const quiet = evaluated(withHoles(fleet(), fatal), withHoles(fleet(), fatal))
    expect(quiet).toMatchObject({ result: 'pass', errors: [{ state: 'standing', blocksApply: true }] })
    expect(quiet.summary).toContain(
      `1 existing evaluation error does not block. Flux applies nothing of ${TENANTS} until it is fixed.`,
    )
  })

  test('is an error again where it hides other bytes, with the file and how to get past', () => {
    const head = withHoles(fleet(), { [TENANTS]: [hole({ hides: 'b'.repeat(64) })] })
    const verdict = evaluated(head, withHoles(fleet(), standing))
    expect(verdict).toMatchObject({ result: 'error', errors: [{ state: 'new' }] })
    expect(verdict.errors[0]!.message).toContain('not evaluated because of tenants/x.yaml changed')
    expect(verdict.errors[0]!.fix).toContain('.github/bailiwick-baseline.yaml')
    expect(verdict.errors[0]!.fix).toContain('b'.repeat(64))
  })

  test('stands on another line, in another node and on another cluster', () => {
    const base = withHoles(fleet(), standing)
    expect(states(withHoles(fleet(), { [TENANTS]: [hole({ line: 40 })] }), base)).toEqual(['standing'])
    expect(states(withHoles(fleet(), { [ROOT]: [hole()] }), base)).toEqual(['standing'])
    expect(states(withHoles(fleet(), { [TENANTS]: [hole()], [ROOT]: [hole()] }), base)).toEqual([
      'standing',
      'standing',
    ])
  })

  test('is an error again where a tenant applies what it hides', () => {
    const base = withHoles(fleet(), standing)
    const verdict = evaluated(withHoles(fleet(), { [TENANTS]: [hole()], [DEV]: [hole()] }), base)
    expect(verdict.errors.map(({ node, state }) => [node, state])).toEqual([
      [TENANTS, 'standing'],
      [DEV, 'new'],
    ])
  })

  test.for<[string, Cause]>([
    ['in another file', { file: 'tenants/y.yaml' }],
    ['in another repository', { repository: DEV_URL }],
    ['of another field', { message: 'field "y" is not supported' }],
    ['of another kind', { code: 'kustomize-invalid' }],
  ])('is new %s', ([, cause]) => {
    const head = withHoles(fleet(), { [TENANTS]: [hole(cause)] })
    expect(evaluated(head, withHoles(fleet(), standing))).toMatchObject({ result: 'error', errors: [{ state: 'new' }] })
  })

  test('copied to a second file: the copy is new, the first stands', () => {
    const head = withHoles(fleet(), { [TENANTS]: [hole(), hole({ file: 'tenants/y.yaml' })] })
    expect(states(head, withHoles(fleet(), standing)).sort()).toEqual(['new', 'standing'])
  })

  test('of which two in one file hide different things: neither stands for the other', () => {
    const two = [hole(), hole({ hides: 'b'.repeat(64), line: 9 })]
    expect(states(withHoles(fleet(), { [TENANTS]: two }), withHoles(fleet(), standing)).sort()).toEqual([
      'new',
      'standing',
    ])
    expect(states(withHoles(fleet(), { [TENANTS]: two }), withHoles(fleet(), { [TENANTS]: two }))).toEqual([
      'standing',
      'standing',
    ])
  })

  test('is gone once it is fixed, and what shows then is new', () => {
    expect(evaluated(fleet(), withHoles(fleet(), standing))).toMatchObject({ result: 'pass', errors: [] })
    const repaired = evaluated(withAdmin(), withHoles(fleet(), standing))
    expect(repaired.result).toBe('fail')
    // what the base's partial build had stands, before and after the repair
    const before = withHoles(withAdmin(), standing)
    expect(evaluated(withAdmin(), before)).toMatchObject({ result: 'pass', errors: [] })
  })

  test('of two clusters is one entry in the first line, and one for each node in the list', () => {
    const shared = { 'production/flux-system/tenants': [hole()], [TENANTS]: [hole()] }
    const verdict = evaluated(withHoles(onTwoClusters(), shared))
    expect(verdict.errors.map(({ node }) => node)).toEqual(['production/flux-system/tenants', TENANTS])
    expect(new Set(verdict.errors.map(({ fingerprint }) => fingerprint)).size).toBe(1)
    expect(verdict.evaluated.holes).toBe(1)
    expect(verdict.summary).toMatch(/^Could not be evaluated: field "x" is not supported\. Evaluated: /)
  })
})

describe('the baseline', () => {
  const fingerprint = evaluated(withHoles(fleet(), { [TENANTS]: [hole()] })).errors[0]!.fingerprint
  const accepting = (...hides: string[]) => ({ baseline: new Map([[fingerprint, { hides }]]) })

  test('accepts a cause with the bytes that it pins, with a base and without one', () => {
    const head = withHoles(fleet(), { [TENANTS]: [hole()] })
    expect(evaluated(head).result).toBe('error')
    expect(evaluated(head, undefined, accepting('a'.repeat(64)))).toMatchObject({
      result: 'pass',
      errors: [{ state: 'standing' }],
    })
    expect(evaluated(head, fleet(), accepting('a'.repeat(64))).result).toBe('pass')
  })

  test('accepts no other bytes, no other cause, and no violation', () => {
    const head = withHoles(fleet(), { [TENANTS]: [hole({ hides: 'b'.repeat(64) })] })
    expect(evaluated(head, undefined, accepting('a'.repeat(64))).result).toBe('error')
    expect(evaluated(head, undefined, accepting()).result).toBe('error')
    expect(evaluated(head, undefined, accepting('a'.repeat(64), 'b'.repeat(64))).result).toBe('pass')
    const other = withHoles(fleet(), { [TENANTS]: [hole({ file: 'tenants/y.yaml' })] })
    expect(evaluated(other, undefined, accepting('a'.repeat(64))).result).toBe('error')
    const [violation] = evaluated(withAdmin()).violations
    const asError = { baseline: new Map([[violation!.fingerprint, { hides: [] }]]) }
    expect(evaluated(withAdmin(), undefined, asError).result).toBe('fail')
    const asViolation = { baseline: new Map([[fingerprint, {}]]) }
    expect(evaluated(withHoles(fleet(), { [TENANTS]: [hole()] }), undefined, asViolation).result).toBe('error')
  })
})

test('nothing evaluated is an error, and where nothing of the base was either it needs an approval', () => {
  const nothing = fleetOf({ fleet: { 'README.md': 'x' } })
  expect(evaluated(nothing, nothing)).toMatchObject({ result: 'error', errors: [{ state: 'new' }] })
  const blank = { ...fleet(), nodes: fleet().nodes.map(one => ({ ...one, objects: [], digest: '' })) }
  const isNew = { result: 'error', errors: [{ code: 'nothing-evaluated', state: 'new' }] }
  expect(evaluated(blank)).toMatchObject(isNew)
  expect(evaluated(blank, fleet())).toMatchObject(isNew)
  const stands = {
    result: 'pass',
    summary: expect.stringMatching(
      /^Nothing was evaluated, before and after the change\. .*A fleet admin must approve the change: /,
    ),
    errors: expect.arrayContaining([expect.objectContaining({ code: 'nothing-evaluated', state: 'standing' })]),
    requiredApprovals: [{ rule: 'nothing-evaluated', path: 'clusters/staging/flux-system/gotk-sync.yaml' }],
  }
  expect(evaluated(blank, blank)).toMatchObject(stands)
  const withFile = (path: string) => {
    const { repositories } = fleetOf(miniFleet({ fleet: { [path]: 'x' } }))
    return { ...blank, repositories }
  }
  expect(evaluated(withFile('README.md'), blank).requiredApprovals).toEqual([])
  // what looks like documentation may be a template of a chart
  expect(evaluated(withFile('charts/web/templates/owners.tpl'), blank).requiredApprovals).toHaveLength(1)
  expect(evaluated(withFile('tenants/x.yaml'), blank).requiredApprovals).toMatchObject(stands.requiredApprovals)
  // an existing error that hides all there is leaves nothing to see, either
  const hidden = { ...blank, nodes: blank.nodes.map(one => ({ ...one, holes: [hole({ fatal: true })] })) }
  expect(evaluated(hidden, hidden)).toMatchObject(stands)
})

test('the first line says in how much nothing was found', () => {
  expect(evaluated(fleet()).summary).toBe('Passed. Evaluated: 4 Kustomizations, 17 objects, 1 cluster, 2 tenants.')
})

test('the first line counts the HelmReleases whose charts are not rendered', () => {
  const release = 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: apps}\n'
  const verdict = evaluated(fleetOf(miniFleet({ dev: withResource(release) })))
  expect(verdict.evaluated.releases).toBe(1)
  expect(verdict.summary).toMatch(/ Charts of 1 HelmRelease are not rendered\./)
})
