import { expect, test } from 'vitest'
import { message, part, plainText } from '../../src/base/message.ts'
import { verdictJson } from '../../src/report/formats/formats.ts'
import { terminalText } from '../../src/report/formats/terminal.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import { verdictSections } from '../../src/report/verdict-sections.ts'
import type { Finding } from '../../src/rules/model/finding.ts'
import { FLEET, failure, finding, hostile, OPS, twoViolations, verdict } from './samples.ts'

test('the text says place, who, what and how to fix', async () => {
  await expect(terminalText(twoViolations(), OPS)).toMatchFileSnapshot('goldens/terminal.txt')
})

test('no value can write to the terminal', () => {
  const nasty = finding({ message: 'a\u001b[2Jb\rc', identity: '\u009b31m' })
  const text = terminalText({ ...hostile(), violations: [nasty, ...hostile().violations] }, OPS)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
})

test('values of a cluster have no address', () => {
  const notSeen = [{ source: 'Secret/a/b', url: '', reason: 'only the cluster c has it', what: 'values' as const }]
  const given = verdict({ notSeen })
  expect(terminalText(given, OPS)).toMatch('not visible: Secret/a/b: only the cluster c has it')
  expect(JSON.stringify(verdictSections(given, OPS))).toMatch('`Secret/a/b`: only the cluster c has it')
  expect(viewFor(given, undefined, OPS).verdict.notSeen).toEqual(notSeen)
})

test('json has exactly the keys of the contract', () => {
  const json = verdictJson(
    verdict({ violations: [finding()], errors: [failure()], notSeen: [{ source: 's', url: 'u', reason: 'r' }] }),
  )
  expect(Object.keys(json)).toEqual([
    'result',
    'summary',
    'clusters',
    'tenants',
    'violations',
    'warnings',
    'errors',
    'notSeen',
    'notReached',
    'requiredApprovals',
    'evaluated',
  ])
  const [violation] = json.violations as Record<string, object>[]
  expect(Object.keys(violation!)).toEqual([
    'rule',
    'severity',
    'state',
    'cluster',
    'tenant',
    'identity',
    'object',
    'field',
    'origin',
    'via',
    'message',
    'fix',
    'fingerprint',
  ])
  expect(violation!.origin).toEqual({ repository: OPS, file: 'steal.yaml', line: 5, column: 14 })
  expect(json.errors).toEqual([failure()])
})

test('what the cluster answers is a fact of the finding, whatever its message says', () => {
  const message = 'ConfigMap kube-system/x is not allowed. API server: configmaps is forbidden.'
  const { clusterAnswer, ...plain } = finding({ message })
  const said = (one: Finding) => terminalText(verdict({ violations: [one] }), OPS)
  expect(said({ ...plain, clusterAnswer: clusterAnswer! })).toContain('\n  cluster  ')
  expect(said(plain)).not.toContain('\n  cluster  ')
})

test('Kustomizations that no cluster builds are listed, and counted beyond a few', () => {
  const one = (index: number) => ({
    id: `apps/k${index}`,
    origin: { repository: OPS, file: `old/k${index}.yaml`, line: 3, column: 1 },
    reason: 'its file is in no kustomization.yaml that a cluster builds',
  })
  const text = (count: number) =>
    terminalText(verdict({ notReached: Array.from({ length: count }, (_one, index) => one(index)) }), OPS)
  expect(text(1)).toContain(
    'not reached: apps/k0 (old/k0.yaml:3): its file is in no kustomization.yaml that a cluster builds\n',
  )
  expect(text(10).match(/^not reached: /gm)).toHaveLength(10)
  expect(text(12).match(/^not reached: /gm)).toHaveLength(11)
  expect(text(12)).toContain('not reached: 2 more Kustomizations (-o json lists all)\n')
})

test('a comment folds them, and a tenant is not shown them', () => {
  const origin = { repository: FLEET, file: 'old/k.yaml', line: 3, column: 1 }
  const one = verdict({ notReached: [{ id: 'apps/k', origin, reason: 'no cluster | builds it' }] })
  const text = verdictSections(one, FLEET)
    .map(section => section.text)
    .join('\n')
  expect(text).toContain('<details><summary>Not reached: 1 Kustomization that no cluster builds</summary>')
  expect(text).toContain('- `apps/k` at `old/k.yaml:3`: no cluster')
  expect(viewFor(one, ['ops-team'], OPS).verdict.notReached).toEqual([])
})

test('values in messages stand out where the terminal shows colors, and nowhere else', () => {
  const said = message`Object ${part('object', 'ops/web')} is ${part('value', '\u001b[31mred')}`
  const one = finding({ message: plainText(said), typed: said })
  const [plain, colored] = [false, true].map(color => terminalText(verdict({ violations: [one] }), OPS, { color }))
  expect(plain).not.toContain('\u001b')
  expect(colored).toContain('Object \u001b[1mops/web\u001b[0m is \u001b[1m\\u{1b}[31mred\u001b[0m')
  expect(colored?.replaceAll('\u001b[1m', '').replaceAll('\u001b[0m', '')).toBe(plain)
})
