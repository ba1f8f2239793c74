import { expect, test } from 'vitest'
import { BASELINE_FILE, readBaseline } from '../../../src/rules/model/baseline.ts'

const read = (text: string | Buffer) => [
  ...readBaseline({ repository: 'https://github.com/acme/fleet', path: BASELINE_FILE }, Buffer.from(text)).keys(),
]
const print = 'a'.repeat(32)

test('reads the fingerprints, and notes for people beside them', () => {
  expect(
    read(`violations:\n  - fingerprint: ${print}\n    rule: sa-required\n    object: Kustomization apps/web\n`),
  ).toEqual([print])
  expect(read('violations: []\n')).toEqual([])
  expect(read('# nothing yet\n')).toEqual([])
})

test.each([
  ['an unknown key', 'allow: all\n', '"allow" is an unknown key. Allowed: violations, errors'],
  ['an unknown note', `violations:\n  - fingerprint: ${print}\n    rules: x\n`, '"violations.rules" is an unknown key'],
  ['a wildcard', 'violations:\n  - fingerprint: "*"\n', '32 hex digits'],
  ['a number', 'violations:\n  - fingerprint: 12345678901234567890123456789012\n', '32 hex digits'],
  ['a text', 'violations: all\n', 'not a list'],
  ['two documents', 'violations: []\n---\nviolations: []\n', 'more than one document'],
  ['a list', '- x\n', 'not a map'],
  ['an item that is text', 'violations: [x]\n', 'not a map'],
])('refuses %s', (_what, text, message) => {
  expect(() => read(text)).toThrow(message)
})

const digest = 'b'.repeat(64)

test('reads errors with the digests of what they hide; two entries of one cause accept both', () => {
  const text = `errors:\n  - {fingerprint: ${print}, hides: [${digest}], code: x, file: a.yaml, message: m}\n  - {fingerprint: ${print}, hides: []}\n`
  const file = { repository: 'https://github.com/acme/fleet', path: BASELINE_FILE }
  expect([...readBaseline(file, Buffer.from(text))]).toEqual([[print, { hides: [digest] }]])
})

test.each([
  ['an error without digests', `errors:\n  - fingerprint: ${print}\n`, 'hides is not a list'],
  ['a digest that is a wildcard', `errors:\n  - {fingerprint: ${print}, hides: ["*"]}\n`, 'not a digest'],
  [
    'a severity of an error',
    `errors:\n  - {fingerprint: ${print}, hides: [], severity: low}\n`,
    '"errors.severity" is an unknown key',
  ],
  [
    'a violation that hides something',
    `violations:\n  - {fingerprint: ${print}, hides: []}\n`,
    '"violations.hides" is an unknown key',
  ],
  [
    'one that is both',
    `violations: [{fingerprint: ${print}}]\nerrors:\n  - {fingerprint: ${print}, hides: []}\n`,
    'a fingerprint is listed under both errors and violations',
  ],
])('refuses %s', (_what, text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('refuses what two readers would read differently', () => {
  expect(() => read(`violations: []\nviolations:\n  - fingerprint: ${print}\n`)).toThrow()
  expect(() => read(Buffer.from([0xff, 0xfe, 0x00]))).toThrow()
})
