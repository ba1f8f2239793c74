import { expect, test } from 'vitest'
import { ACCESS_FROM, admits, readSourceAcl } from '../../../src/flux/references.ts'
import type { MapNode } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

const read = (yaml: string) => {
  const [root] = parseDocuments({ repository: '', path: 'a.yaml' }, new TextEncoder().encode(yaml))
  return readSourceAcl({ root: root as MapNode, trail: [] })
}
const field = (acl: string) => read(`spec:\n  accessFrom: ${acl}\n`)
const annotation = (text: string) => read(`metadata:\n  annotations:\n    ${ACCESS_FROM}: ${JSON.stringify(text)}\n`)
const labels = new Map([
  ['team', 'web'],
  ['stage', 'prod'],
])
const verdict = (acl: ReturnType<typeof read>) =>
  acl === undefined || acl === 'unreadable' ? acl : admits(acl, labels) ? 'open' : 'closed'

/** As github.com/fluxcd/pkg, runtime/acl: selectors are OR-ed, labels AND-ed, no label is everybody, no selector nobody. */
const cases: [string, string | undefined][] = [
  ['{namespaceSelectors: [{matchLabels: {}}]}', 'open'],
  ['{namespaceSelectors: [{}]}', 'open'],
  ['{namespaceSelectors: [{matchLabels: null}]}', 'open'],
  ['{namespaceSelectors: [{matchLabels: {team: web}}]}', 'open'],
  ['{namespaceSelectors: [{matchLabels: {team: web, stage: prod}}]}', 'open'],
  ['{namespaceSelectors: [{matchLabels: {team: web, stage: test}}]}', 'closed'],
  ['{namespaceSelectors: [{matchLabels: {team: x}}, {matchLabels: {stage: prod}}]}', 'open'],
  ['{namespaceSelectors: [{matchLabels: {other: ""}}]}', 'closed'],
  ['{namespaceSelectors: []}', 'closed'],
  ['{namespaceSelectors: null}', 'closed'],
  ['{}', 'closed'],
  ['[]', 'unreadable'],
  ['all', 'unreadable'],
  ['{namespaceSelectors: {matchLabels: {}}}', 'unreadable'],
  ['{namespaceSelectors: [{matchLabels: {team: 7}}]}', 'unreadable'],
  ['{namespaceSelectors: [{matchLabels: [team]}]}', 'unreadable'],
  ['{namespaceSelectors: [{matchExpressions: [{key: team, operator: Exists}]}]}', 'unreadable'],
  ['{namespaceSelectors: [{matchLabels: {}, x: 1}]}', 'unreadable'],
  ['{namespaceSelectors: [null]}', 'unreadable'],
  ['{namespaceSelectors: [{}], other: 1}', 'unreadable'],
]

test.each(cases)('%s is %s, as a field and as the annotation', (acl, expected) => {
  expect(verdict(field(acl))).toBe(expected)
  expect(verdict(annotation(acl))).toBe(expected)
})

test('absent is no list, as a field and as the annotation', () => {
  expect(read('spec: {}\n')).toBeUndefined()
  expect(field('null')).toBeUndefined()
  expect(read(`metadata: {annotations: {${ACCESS_FROM}: null}}\n`)).toBeUndefined()
})

test.each([
  '',
  '# nothing',
  '{namespaceSelectors: [{}]',
  '{namespaceSelectors: [{}]}\n---\n{}',
  'a: &a [*a]',
  'namespaceSelectors: [{matchLabels: {a: b, a: c}}]',
  `namespaceSelectors:\n${'- {}\n'.repeat(2000)}`,
  '\u0000',
])('the annotation %j lets in nobody', text => {
  expect(annotation(text)).toBe('unreadable')
})

test('the field goes before the annotation', () => {
  const yaml = `metadata: {annotations: {${ACCESS_FROM}: '{"namespaceSelectors":[{}]}'}}\nspec: {accessFrom: {namespaceSelectors: []}}\n`
  expect(verdict(read(yaml))).toBe('closed')
})
