import { expect, test } from 'vitest'
import { checkRunOf } from '../../../src/report/check-run.ts'
import { commentOf } from '../../../src/report/comment.ts'
import { verdictJson } from '../../../src/report/formats/formats.ts'
import { terminalText } from '../../../src/report/formats/terminal.ts'
import { checkPageOf } from '../../../src/report/page/build-pages.ts'
import { renderCheckPage } from '../../../src/report/page/render-check-page.ts'
import { blastRadius, impactSection } from '../../../src/report/policy-impact.ts'
import type { Verdict } from '../../../src/rules/model/finding.ts'
import { evaluationOf } from '../../fleet/fleet-of.ts'
import { DEV_URL, FLEET_URL, fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const POLICY = (max: string, action = 'Deny', more = '') => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: levels}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations:
    - {expression: "!has(object.data) || !has(object.data.level) || object.data.level in ${max}", message: "use a known level"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec: {policyName: levels, validationActions: [${action}]${more}}
`
const maps = (namespace: string, names: readonly string[], level = 'high') =>
  names
    .map(
      name =>
        `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {level: ${level}}\n`,
    )
    .join('')

function world(policy: string | undefined, dev: string, ops = '', more: Record<string, string> = {}) {
  return miniFleet({
    fleet: {
      'tenants/kustomization.yaml': `resources: [dev-team.yaml, ops-team.yaml${policy === undefined ? '' : ', policies.yaml'}]\n`,
      ...(policy === undefined ? {} : { 'tenants/policies.yaml': policy }),
      ...more,
    },
    dev: dev === '' ? {} : withResource(dev),
    ...(ops === '' ? {} : { ops: withResource(ops) }),
  })
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const LOW = POLICY("['low']")
const compared = (base: ReturnType<typeof world>, head: ReturnType<typeof world>) => evaluationOf(head, { base })
const radius = (base: ReturnType<typeof world>, head: ReturnType<typeof world>) =>
  blastRadius(compared(base, head).verdict).map(({ policy, origin, objects, tenants }) => ({
    ...{ policy: policy.name, action: policy.action, at: `${origin.file}:${origin.line}`, objects },
    tenants: tenants.map(one => `${one.tenant} ${one.objects} ${one.names.length}`),
  }))

test('a policy that comes lists the objects that stand, by tenant', () => {
  const [dev, ops] = [maps('apps', NAMES), maps('ops', ['x'])]
  expect(radius(world(undefined, dev, ops), world(LOW, dev, ops))).toEqual([
    {
      policy: 'levels',
      action: 'deny',
      at: 'tenants/policies.yaml:8',
      objects: 8,
      tenants: ['dev-team 7 7', 'ops-team 1 1'],
    },
  ])
})

test('what the change itself writes is a violation, and not what the policy does to existing objects', () => {
  expect(radius(world(LOW, maps('apps', ['a'], 'low')), world(LOW, maps('apps', ['a'])))).toEqual([])
  expect(radius(world(undefined, ''), world(LOW, maps('apps', ['a'])))).toEqual([])
})

test('what a policy refused before is not listed, what it lets in is', () => {
  const dev = maps('apps', ['a'])
  expect(radius(world(LOW, dev), world(LOW, dev))).toEqual([])
  expect(radius(world(undefined, dev), world(POLICY("['high']"), dev))).toEqual([])
  expect(radius(world(LOW, dev), world(POLICY("['high']"), dev))).toMatchObject([
    { action: 'allow', objects: 1, tenants: ['dev-team 1 1'] },
  ])
  const { verdict } = compared(world(LOW, dev), world(undefined, dev, maps('ops', ['x'])))
  expect(verdict.requiredApprovals.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
    'policy-loosened: ValidatingAdmissionPolicy levels denies less than before: 2 objects that it denied pass',
    'policy-loosened: ValidatingAdmissionPolicyBinding bound changes, so that policies may deny more or less than before',
  ])
  expect(impactSection(verdict, '')?.list).toContain('no longer denies 2 objects of 2 tenants')
})

test.each([
  ['the policy', POLICY("['high', 'low']"), LOW, {}, {}],
  ['its action', POLICY("['low']", 'Audit'), LOW, {}, {}],
  ['its binding', POLICY("['low']", 'Deny', ', matchResources: {objectSelector: {matchLabels: {a: b}}}'), LOW, {}, {}],
  [
    'labels of a Namespace',
    POLICY("['low']", 'Deny', ', matchResources: {namespaceSelector: {matchLabels: {strict: "yes"}}}'),
    POLICY("['low']", 'Deny', ', matchResources: {namespaceSelector: {matchLabels: {strict: "yes"}}}'),
    {},
    {
      'tenants/dev-team.yaml': fleetFiles['tenants/dev-team.yaml']!.replace(
        'toolkit.fluxcd.io/tenant: dev-team',
        'toolkit.fluxcd.io/tenant: dev-team\n    strict: "yes"',
      ),
    },
  ],
])('whatever of it changes: %s', (_what, before, after, filesBefore, filesAfter) => {
  const dev = maps('apps', ['a', 'b'])
  expect(radius(world(before, dev, '', filesBefore), world(after, dev, '', filesAfter))).toMatchObject([
    { action: 'deny', objects: 2, tenants: ['dev-team 2 2'] },
  ])
})

test('parameters, and what cannot be evaluated', () => {
  const withParams = (level: string) =>
    `${POLICY("params.data.levels.split(',')", 'Deny', ', paramRef: {name: levels, namespace: flux-system, parameterNotFoundAction: Deny}').replace('spec:\n  match', 'spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  match')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: levels, namespace: flux-system}\ndata: {levels: "${level}", level: ${level.split(',')[0]}}\n`
  const dev = maps('apps', ['a'])
  expect(radius(world(withParams('high,low'), dev), world(withParams('low'), dev))).toMatchObject([
    { action: 'deny', objects: 1, tenants: ['dev-team 1 1'] },
  ])
  const unknown = POLICY("['low']", 'Deny', ', matchResources: {namespaceSelector: {matchLabels: {strict: "yes"}}}')
  const outside = { 'tenants/more.yaml': maps('elsewhere', ['z']) }
  const list = (files: string) => ({ 'tenants/kustomization.yaml': `resources: [${files}]\n` })
  const base = world(undefined, '', '', { ...outside, ...list('dev-team.yaml, ops-team.yaml, more.yaml') })
  const head = world(unknown, '', '', { ...outside, ...list('dev-team.yaml, ops-team.yaml, more.yaml, policies.yaml') })
  expect(radius(base, head)).toMatchObject([{ action: 'unknown', objects: 1, tenants: [' 1 1'] }])
})

test('audit and warn are named as such', () => {
  const dev = maps('apps', ['a'])
  for (const [action, word] of [
    ['Audit', 'audit'],
    ['Warn', 'warn'],
  ] as const) {
    const { verdict } = compared(world(undefined, dev), world(POLICY("['low']", action), dev))
    expect(verdict.result).toBe('pass')
    expect(blastRadius(verdict)).toMatchObject([{ policy: { action: word } }])
    expect(terminalText(verdict, FLEET_URL)).toContain(
      word === 'audit' ? 'only reports (audit) 1 existing object' : 'only warns about 1 existing object',
    )
  }
})

const context = (repository = FLEET_URL) =>
  ({
    kind: 'pull-request',
    repository,
    headSha: 'a'.repeat(40),
    fleet: { repository: FLEET_URL, commit: 'b'.repeat(40) },
  }) as const

test('every surface says it, with bounded names', () => {
  const [dev, ops] = [maps('apps', NAMES), maps('ops', ['x'])]
  const { verdict, nodes } = compared(world(undefined, dev, ops), world(LOW, dev, ops))
  const heading = 'Objects that changed policies affect: 8 denied'
  const { summary } = checkRunOf(verdict, { ...context(), nodes })
  expect(summary).toContain(`<summary>${heading}</summary>`)
  expect(summary).toContain(
    '- `ValidatingAdmissionPolicy levels` (`tenants/policies.yaml:8`, `bound`) denies 8 existing objects of 2 tenants',
  )
  expect(summary).toContain(
    '  - tenant `dev-team`: 7 on `staging`: `ConfigMap apps/a`, `ConfigMap apps/b`, `ConfigMap apps/c`, `ConfigMap apps/d`, `ConfigMap apps/e` and 2 more',
  )
  expect(commentOf(verdict, { ...context(), nodes })).toContain(`<summary>${heading}</summary>`)
  expect(terminalText(verdict, FLEET_URL)).toContain(`policies: ${heading}`)
  expect(verdictJson(verdict)).toMatchObject({
    policyImpact: [{ policy: { name: 'levels', action: 'deny' }, objects: 8 }],
  })
  const place = { owner: 'acme', repo: 'fleet', check: 'bailiwick / tenancy', at: '2026-11-23T00:00:00Z' }
  const html = renderCheckPage(checkPageOf(verdict, { ...context(), nodes }, place))
  expect(html).toContain(heading)
  expect(html).toContain('and 2 more')
})

test('a tenant is shown its own objects only', () => {
  const [dev, ops] = [maps('apps', NAMES), maps('ops', ['x'])]
  const { verdict, nodes } = compared(world(undefined, dev, ops), world(LOW, dev, ops))
  const { summary } = checkRunOf(verdict, { ...context(DEV_URL), audience: ['dev-team'], nodes })
  expect(summary).toContain('Objects that changed policies affect: 7 denied')
  expect(summary).not.toContain('ops-team')
})

test('thousands of objects are counted, and few are named', () => {
  const finding = (at: number) =>
    ({
      rule: 'policy-denied',
      state: 'new',
      cluster: `c${at % 30}`,
      tenant: `t${at % 300}`,
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: `n${at}`, name: '`<b>@all' },
      policy: {
        ...{ kind: 'ClusterPolicy', namespace: '', name: `p${at % 40}`, rule: `r${at}`, action: 'deny' },
        origin: { repository: FLEET_URL, file: 'p.yaml', line: 1 },
        isUnchanged: true,
      },
    }) as unknown as Verdict['violations'][number]
  const violations = Array.from({ length: 6_000 }, (_, at) => finding(at))
  const impacts = blastRadius({ violations, warnings: [] })
  expect(impacts.reduce((sum, { objects }) => sum + objects, 0)).toBe(6_000)
  const clean = compared(world(LOW, ''), world(LOW, '')).verdict
  expect(terminalText(clean, FLEET_URL)).not.toContain('policies:')
  const list = impactSection({ violations, warnings: [] }, FLEET_URL)!.list
  expect(list.length).toBeLessThan(30_000)
  expect(list).toContain('and 30 more policies')
  expect(list).toMatch(/ {2}- and \d+ more: \d+ objects/)
  // every value stands in a code span
  expect(list.replaceAll(/(`+)[^\n]*?\1(?!`)/g, '')).not.toMatch(/[<@]/)
})
