import { expect, test } from 'vitest'
import { readDesignationFile } from '../../src/designation/designation-file.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import { readTest } from '../../src/policy/testing/test-file.ts'
import { BASELINE_FILE, readBaseline } from '../../src/rules/model/baseline.ts'

const print = 'a'.repeat(32)
const repository = 'https://github.com/acme/fleet'
const policyTest = (text: string) => {
  const file = { repository, path: 'kyverno-test.yaml' }
  readTest(parseDocuments(file, Buffer.from(text))[0], { repository, file: file.path, line: 1, column: 1 })
}
const baseline = (text: string) => readBaseline({ repository, path: BASELINE_FILE }, Buffer.from(text))
const designation = (text: string) => readDesignationFile(repository, Buffer.from(text))

// each file that a user writes, with a key that is misspelled, its line, and the key that was meant
test.each([
  ['a test', policyTest, 'policies: [a.yaml]\nresuls: []\n', 'resuls', 2, 'results'],
  ['a result of a test', policyTest, 'results:\n- policy: a\n  ruel: b\n  result: pass\n', 'results.ruel', 3, 'rule'],
  [
    'an object of a result',
    policyTest,
    'results:\n- policy: a\n  result: pass\n  resourceSpecs:\n  - nmae: b\n',
    'results.resourceSpecs.nmae',
    5,
    'name',
  ],
  [
    'a response',
    policyTest,
    'apiCallResponses:\n- url: /a\n  respones: {body: {}}\n',
    'apiCallResponses.respones',
    3,
    'response',
  ],
  [
    'a body',
    policyTest,
    'apiCallResponses:\n- url: /a\n  response: {bdy: {}}\n',
    'apiCallResponses.response.bdy',
    3,
    'body',
  ],
  ['a global entry', policyTest, 'globalContextEntries:\n- name: a\n  dta: 1\n', 'globalContextEntries.dta', 3, 'data'],
  ['a baseline', baseline, 'violation: []\n', 'violation', 1, 'violations'],
  [
    'an item of a baseline',
    baseline,
    `violations:\n- fingerprint: ${print}\n  reson: b\n`,
    'violations.reson',
    3,
    'reason',
  ],
  ['an error of a baseline', baseline, `errors:\n- fingerprint: ${print}\n  hide: []\n`, 'errors.hide', 3, 'hides'],
  ['a list of fleets', designation, 'fleet: [acme/fleet]\n', 'fleet', 1, 'fleets'],
  ['a fleet of it', designation, 'fleets:\n- repository: acme/fleet\n  brnch: main\n', 'fleets[0].brnch', 3, 'branch'],
] as const)('an unknown key of %s is an error at its line', (_what, read, text, key, line, meant) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({
      code: 'config',
      message: expect.stringContaining(`"${key}" is an unknown key. Allowed: `),
      origin: expect.objectContaining({ line, repository }),
      fix: `Did you mean ${meant}?`,
    }),
  )
})

test('a key that resembles none is an error with the allowed ones', () => {
  expect(() => baseline('whatever: 1\n')).toThrow(
    expect.objectContaining({ fix: 'Remove it, or write one of the allowed keys.' }),
  )
})

test('every key of the Kyverno command line, and the deprecated ones, are read', () => {
  const keys = 'status: pass, resource: web, namespace: apps, patchedResource: a.yaml, isValidatingPolicy: true'
  policyTest(`name: old\nchecks: []\njsonPayload: a.json\nresults: [{policy: a, kind: Pod, ${keys}}]\n`)
})
