import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildFleet } from '../../../../src/fleet/graph/build-fleet.ts'
import { retainOf, revisionSetOf } from '../../../../src/fleet/model/input.ts'
import type { Finding } from '../../../../src/rules/model/finding.ts'
import { evaluateFleet } from '../../../../src/verdict/evaluate-fleet.ts'
import { EvaluateSession } from '../../../../src/verdict/evaluate-sides.ts'
import { CLUSTERS, firstWorld, inputOf, object, TENANTS, type World } from './random-world.ts'

const numRuns = Number(process.env.BAILIWICK_SESSION_RUNS ?? 25)

/** Which of some forms each thing has that policies are made of, ask for, or are asked about. */
const FORMS = {
  native: 4,
  binding: 6,
  params: 3,
  kyverno: 4,
  exception: 3,
  label: 3,
  role: 2,
  anna: 4,
  bert: 4,
} as const
type Thing = keyof typeof FORMS
type Forms = Readonly<Record<Thing, number>>

const edit = fc
  .constantFrom(...(Object.keys(FORMS) as Thing[]))
  .chain(thing => fc.nat(FORMS[thing] - 1).map(form => ({ thing, form })))
const start = fc.record(
  Object.fromEntries(Object.entries(FORMS).map(([thing, most]) => [thing, fc.nat(most - 1)])) as Record<
    Thing,
    fc.Arbitrary<number>
  >,
)
const history = fc.record({
  start,
  steps: fc.array(fc.record({ edits: fc.array(edit, { minLength: 1, maxLength: 2 }), isChange: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  }),
})

const NATIVE = [
  "object.data.level == 'low'",
  "object.data.level in params.data.level.split(',')",
  "has(oldObject.data) || authorizer.group('').resource('secrets').namespace('anna').check('get').allowed()",
]
const BINDINGS = [
  'validationActions: [Deny]',
  'validationActions: [Audit]',
  'validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {strict: "yes"}}}',
  'validationActions: [Warn], matchResources: {objectSelector: {matchLabels: {a: b}}}',
  'validationActions: [Deny], paramRef: {name: levels, namespace: flux-system, parameterNotFoundAction: Deny}',
]
const PATTERNS = ['{data: {level: low}}', '{metadata: {labels: {a: "?*"}}}', '{data: {"=(level)": "!high"}}']
const ADMISSION = 'admissionregistration.k8s.io/v1'

const nativeText = (form: number): string =>
  object(
    ADMISSION,
    'ValidatingAdmissionPolicy',
    'levels',
    '',
    `spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints:\n    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [configmaps]}]\n  validations: [{expression: ${JSON.stringify(NATIVE[form])}}]\n`,
  )

const kyvernoText = (form: number): string =>
  object(
    'kyverno.io/v1',
    'ClusterPolicy',
    'settings',
    '',
    `spec:\n  validationFailureAction: ${form % 2 ? 'Audit' : 'Enforce'}\n  rules:\n    - name: one\n      match: {any: [{resources: {kinds: [ConfigMap], namespaces: [anna, bert]}}]}\n      validate: {message: no, pattern: ${PATTERNS[form]}}\n`,
  )

const exceptionText = (form: number): string =>
  object(
    'kyverno.io/v2',
    'PolicyException',
    'excepted',
    'flux-system',
    `spec: {exceptions: [{policyName: settings, ruleNames: ["${form === 1 ? 'one' : 'other*'}"]}], match: {any: [{resources: {kinds: [ConfigMap], namespaces: [anna]}}]}}\n`,
  )

/** Everything that policies are, as one file; the last form of most things is that there is none. */
function policyFile({ native, binding, params, kyverno, exception }: Forms): string {
  const parts = [
    ...(native < NATIVE.length ? [nativeText(native)] : []),
    ...(binding < BINDINGS.length
      ? [
          object(
            ADMISSION,
            'ValidatingAdmissionPolicyBinding',
            'levels',
            '',
            `spec: {policyName: levels, ${BINDINGS[binding]}}\n`,
          ),
        ]
      : []),
    ...(params < 2
      ? [object('v1', 'ConfigMap', 'levels', 'flux-system', `data: {level: "${params === 0 ? 'low' : 'low,high'}"}\n`)]
      : []),
    ...(kyverno < PATTERNS.length ? [kyvernoText(kyverno)] : []),
    ...(exception > 0 ? [exceptionText(exception)] : []),
  ]
  return parts.join('---\n') || '# none\n'
}

const SETTINGS = [
  'data: {level: low}\n',
  'data: {level: high}\n',
  'labels: {a: b}\ndata: {level: high}\n',
  'data: {}\n',
] as const

const settings = (form: number): string => {
  const text = SETTINGS[form]!
  const [labels, data] = text.startsWith('labels') ? text.split(/\n(?=data)/) : [undefined, text]
  return object('v1', 'ConfigMap', 'settings', '', `${labels === undefined ? '' : `  ${labels}\n`}${data}`)
}

function worldOf(forms: Forms): World {
  let world = firstWorld()
  const fleet = new Map(world.fleet)
  for (const cluster of CLUSTERS) {
    fleet.set(`clusters/${cluster}/policies.yaml`, cluster === 'one' ? policyFile(forms) : kyvernoText(0))
  }
  fleet.set(
    'tenants/base/anna/rbac.yaml',
    fleet
      .get('tenants/base/anna/rbac.yaml')!
      .replace('tenant: anna}', `tenant: anna${['', ', strict: "yes"', ', strict: "no"'][forms.label]}}`)
      .replace('name: cluster-admin', `name: ${forms.role ? 'view' : 'cluster-admin'}`),
  )
  world = { ...world, fleet }
  for (const tenant of TENANTS.slice(0, 2)) {
    const files = new Map(world.tenants.get(tenant))
    files.set('deploy/settings.yaml', settings(forms[tenant as 'anna' | 'bert']))
    world = { ...world, tenants: new Map([...world.tenants, [tenant, files]]) }
  }
  return world
}

test('policies: what a session answers is what a full run answers', { timeout: 600_000 }, () => {
  const found = new Set<string>()
  fc.assert(
    fc.property(history, ({ start: first, steps }) => {
      const session = new EvaluateSession()
      let forms: Forms = first
      let before = worldOf(forms)
      compare(session, before, undefined)
      for (const { edits, isChange } of steps) {
        forms = { ...forms, ...Object.fromEntries(edits.map(({ thing, form }) => [thing, form])) }
        const world = worldOf(forms)
        for (const one of compare(session, world, isChange ? before : undefined)) found.add(one)
        before = world
      }
    }),
    { seed: 20261123, numRuns },
  )
  // the histories must be worth comparing
  expect([...found].filter(one => one.startsWith('policy-denied ClusterPolicy')).length).toBeGreaterThan(2)
  expect([...found].filter(one => one.startsWith('policy-denied Validating')).length).toBeGreaterThan(3)
  expect([...found].some(one => one.endsWith('unchanged'))).toBe(true)
})

/** Evaluates in both ways; what policies said. */
function compare(session: EvaluateSession, world: World, base: World | undefined): string[] {
  const given = { head: inputOf(world, base), base: base && inputOf(base) }
  const before = given.base && session.build(given.base)
  const head = session.build({ ...given.head, ...(before ? { retain: retainOf(before) } : {}) })
  const options = { revisionSet: revisionSetOf(given.head) }
  const answer = session.evaluateFleet(head, { ...options, ...(before ? { base: before } : {}) })
  const anew = { head: inputOf(world, base), base: base && inputOf(base) }
  const wholeBefore = anew.base && buildFleet(anew.base)
  const whole = buildFleet({ ...anew.head, ...(wholeBefore ? { retain: retainOf(wholeBefore) } : {}) })
  const expected = evaluateFleet(whole, { ...options, ...(wholeBefore ? { base: wholeBefore } : {}) })
  expect(JSON.stringify(answer)).toBe(JSON.stringify(expected))
  return [...expected.verdict.violations, ...expected.verdict.warnings].filter(one => one.policy).map(wordsOf)
}

const wordsOf = ({ rule, policy, state }: Finding) =>
  `${rule} ${policy?.kind} ${policy?.rule} ${policy?.action} ${state}${policy?.isUnchanged ? ' unchanged' : ''}`

test('policies: what neither changed nor is asked about is not asked again', () => {
  const forms: Forms = {
    ...{ native: 0, binding: 0, params: 0, kyverno: 0, exception: 0, label: 0, role: 0 },
    ...{ anna: 0, bert: 0 },
  }
  const session = new EvaluateSession()
  const asked = (next: Forms) => {
    const input = inputOf(worldOf(next))
    const before = session.work.asked
    session.evaluateFleet(session.build(input), { revisionSet: revisionSetOf(input) })
    return session.work.asked - before
  }
  const all = asked(forms)
  expect(asked(forms)).toBe(0)
  // one object of one tenant
  const one = asked({ ...forms, anna: 1 })
  expect(one).toBeGreaterThan(0)
  expect(one).toBeLessThan(all / 2)
})
