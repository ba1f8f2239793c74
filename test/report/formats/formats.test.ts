import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { annotationsOf } from '../../../src/report/check-run-text.ts'
import { formats } from '../../../src/report/formats/formats.ts'
import type { ReportContext } from '../../../src/report/outcome.ts'
import type { Verdict } from '../../../src/rules/model/finding.ts'
import { rules } from '../../../src/rules/registry.ts'
import { FLEET, failure, finding, OPS, verdict } from '../samples.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const print = (name: string, one: Verdict, here = OPS) => formats.get(name)!(one, { here, rules, version: '0.1.0' })

const HOSTILE = 'a"b<c>&\'\u0000\u001b[31m\u202e\n::error::owned %0A ]]>\uffff\ud800'
const verdicts: Record<string, Verdict> = {
  'nothing to say': verdict(),
  'one of each': verdict({
    result: 'error',
    violations: [
      finding(),
      finding({ state: 'standing', fingerprint: 'f2' }),
      finding({ state: 'fixed', fingerprint: 'f3' }),
      finding({ state: 'waived', fingerprint: 'f4' }),
    ],
    warnings: [
      finding({ level: 'warning', rule: 'rbac-dangling-role', tenant: '', fingerprint: 'f5', isBefore: true }),
    ],
    errors: [failure(), failure({ state: 'standing' }), failure({ cluster: '', tenant: '', node: '' })],
    notEvaluated: [finding({ level: 'warning', rule: 'kind-not-evaluated', message: 'Widget is not evaluated.' })],
    requiredApprovals: [
      { rule: 'kustomize-remote-base', path: 'infra/kustomization.yaml', message: 'infra names the remote file x' },
    ],
    notSeen: [{ source: 'OCIRepository/apps/x', url: 'oci://ghcr.io/x', reason: 'not in git' }],
    notReached: [
      { id: 'apps/x', origin: { repository: FLEET, file: 'old/x.yaml', line: 3, column: 1 }, reason: 'in no folder' },
    ],
  }),
  'hostile values': verdict({
    result: 'fail',
    violations: [
      finding({
        message: HOSTILE,
        fix: HOSTILE,
        tenant: HOSTILE,
        cluster: HOSTILE,
        object: { apiVersion: HOSTILE, kind: HOSTILE, namespace: HOSTILE, name: HOSTILE },
        origin: { repository: OPS, file: `${HOSTILE}/x.yaml`, line: 1, column: 1 },
      }),
      finding({ origin: { repository: FLEET, file: 'a b/ü%.yaml', line: 0, column: 0 } }),
    ],
    notSeen: [{ source: HOSTILE, url: HOSTILE, reason: HOSTILE }],
    notReached: [{ id: HOSTILE, origin: { repository: OPS, file: HOSTILE, line: 1, column: 1 }, reason: HOSTILE }],
  }),
}

describe.each(Object.entries(verdicts))('%s', (_name, one) => {
  test('json is what docs/check.schema.json says', () => {
    const valid = new Ajv({ allErrors: true }).compile(JSON.parse(read('docs/check.schema.json')))
    expect(valid(JSON.parse(print('json', one))), JSON.stringify(valid.errors)).toBe(true)
  })

  test('sarif is what the published schema says', () => {
    const { $schema: _draft, id: _id, ...schema } = JSON.parse(read('test/fixtures/schemas/sarif-2.1.0.json'))
    const valid = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema)
    expect(valid(JSON.parse(print('sarif', one))), JSON.stringify(valid.errors)).toBe(true)
  })

  test('github prints commands and one line that is none', () => {
    const lines = print('github', one).trimEnd().split('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^::(error|warning|notice) [^\r\n\u001b]*$/)
    expect(lines.at(-1)).toMatch(/^bailiwick: (Passed|pass: |fail: |error: )/)
  })

  test('nothing that steers a terminal gets out', () => {
    for (const name of ['text', 'github']) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(print(name, one)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    }
  })
})

test('the schemas refuse what is not the format', () => {
  const valid = new Ajv().compile(JSON.parse(read('docs/check.schema.json')))
  expect(valid({ result: 'pass' })).toBe(false)
  expect(valid({ ...JSON.parse(print('json', verdict())), extra: 1 })).toBe(false)
})

test('sarif knows what is new, what stands and what was waived', () => {
  const { results } = JSON.parse(print('sarif', verdicts['one of each']!)).runs[0]
  const states = results.map((one: { baselineState: string }) => one.baselineState)
  // the error of one node and that of the whole fleet are one cause; then what is not evaluated, and the approval
  const errors = ['new', 'unchanged']
  expect(states).toEqual(['new', 'unchanged', 'absent', 'unchanged', 'new', ...errors, 'new', 'new'])
  expect(results[3].suppressions).toEqual([{ kind: 'external', status: 'accepted' }])
})

test.each([...formats.keys()])('%s lists errors, what is not evaluated and required approvals', name => {
  const text = print(name, verdicts['one of each']!)
  expect(text).toContain('field ')
  expect(text).toContain('Widget is not evaluated.')
  expect(text).toContain('infra names the remote file x')
})

test.each(['text', 'github', 'sarif'])('%s says an error of several clusters and nodes once', name => {
  const errors = ['production', 'staging'].flatMap(cluster =>
    ['one', 'other'].map(node => failure({ cluster, tenant: '', node: `${cluster}/flux-system/${node}` })),
  )
  const text = print(name, verdict({ result: 'error', errors }))
  const times = { sarif: 1, text: 1, github: 1 }[name]!
  const said = text.match(/is not supported yet/g) ?? []
  expect(said.length).toBe(times)
  for (const { node } of errors) expect(text).toContain(node)
  expect(JSON.parse(print('json', verdict({ result: 'error', errors }))).errors).toHaveLength(4)
})

test('sarif says a finding of several clusters once, with all of them', () => {
  const violations = ['staging', 'production'].map(cluster => finding({ cluster }))
  const origin = { repository: OPS, file: 'z.yaml', line: 1, column: 1 }
  const other = finding({ cluster: 'staging', message: 'something else', origin })
  const { results } = JSON.parse(print('sarif', verdict({ violations: [...violations, other] }))).runs[0]
  expect(results.map((one: { properties: { clusters: string[] } }) => one.properties.clusters)).toEqual([
    ['production', 'staging'],
    ['staging'],
  ])
})

test('sarif names only files of the repository at hand: GitHub takes every path for one of its own', () => {
  const elsewhere = finding({ origin: { repository: FLEET, file: 'tenants/sync.yaml', line: 3, column: 1 } })
  const nowhere = failure({ origin: { repository: '', file: '', line: 1, column: 1 } })
  const printed = print('sarif', verdict({ result: 'error', violations: [finding(), elsewhere], errors: [nowhere] }))
  const { results, invocations } = JSON.parse(printed).runs[0]
  expect(results).toHaveLength(1)
  expect(results[0].locations[0].physicalLocation.artifactLocation).toEqual({ uri: 'steal.yaml' })
  const notes = invocations[0].toolExecutionNotifications.map(
    ({
      level,
      associatedRule,
      message,
    }: {
      level: string
      associatedRule: { id: string }
      message: { text: string }
    }) => `${level} ${associatedRule.id} ${message.text.slice(0, 80)}`,
  )
  expect(notes[0]).toMatch(/^error namespace-confinement github\.com\/acme\/fleet tenants\/sync\.yaml:3: /)
  expect(notes[1]).toMatch(/^error \S+ no file: /)
  expect(JSON.stringify(results)).not.toContain('tenants/sync.yaml')
})

test('sarif has at most the 25,000 results that GitHub takes, and says how many are omitted', () => {
  const results = (count: number) => {
    const violations = Array.from({ length: count }, (_, line) =>
      finding({ cause: `${line}`, origin: { repository: OPS, file: 'x.yaml', line: line + 1, column: 1 } }),
    )
    return JSON.parse(print('sarif', verdict({ result: 'fail', violations }))).runs[0]
  }
  const full = results(25_000)
  expect([full.results.length, full.invocations[0].toolExecutionNotifications]).toEqual([25_000, undefined])
  const over = results(25_001)
  expect(over.results).toHaveLength(25_000)
  expect(over.invocations[0].toolExecutionNotifications[0].message.text).toMatch(/^1 results? (?:is|are) omitted, /)
  // and at most 10 MB when packed
  expect(gzipSync(JSON.stringify(over)).length).toBeLessThan(10_000_000)
})

test.each(['sarif', 'github'])('%s names the edit at the line that is the cause: a target namespace', format => {
  const via = [{ step: 'flux-target-namespace' as const, file: 'sync.yaml', line: 9 }]
  const printed = print(format, verdict({ violations: [finding({ via, allowed: ['ops'] })] }))
  expect(printed).toContain('Set `targetNamespace` to `ops` at steal.yaml:5.')
  expect(printed).not.toContain('Set `metadata.namespace` to ops.')
})

test('github names only files of the repository at hand', () => {
  const [here] = print('github', verdict({ violations: [finding()] })).split('\n')
  expect(here).toContain('file=steal.yaml,line=5,col=14')
  const [elsewhere] = print('github', verdict({ violations: [finding()] }), FLEET).split('\n')
  expect(elsewhere).not.toContain('file=')
  expect(elsewhere).toContain('acme/ops-team steal.yaml:5')
})

test('a line of the base is no line of the head: nothing is shown or marked there', () => {
  const removed = verdict({ violations: [finding({ isBefore: true })] })
  const excerpt = () => '  name: the text of another line'
  const lineOf = (name: string) => formats.get(name)!(removed, { here: OPS, rules, version: '0.1.0', excerpt })
  expect(print('github', removed)).not.toContain('line=5')
  expect(JSON.parse(print('sarif', removed)).runs[0].results[0].locations[0].physicalLocation.region.startLine).toBe(1)
  expect(lineOf('text')).not.toContain('the text of another line')
  expect(lineOf('text')).toContain('steal.yaml:5')
  const present = verdict({ violations: [finding()] })
  expect(formats.get('text')!(present, { here: OPS, rules, version: '0.1.0', excerpt })).toContain(
    'the text of another line',
  )
  const [annotation] = annotationsOf(removed, { repository: OPS } as ReportContext)
  expect(annotation).toMatchObject({ line: 1, message: expect.stringContaining('Before this change at steal.yaml:5') })
})
