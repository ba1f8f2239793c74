import { expect, test } from 'vitest'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { matchPattern } from '../../../src/policy/kyverno/pattern-tree.ts'

const node = (yaml: string) => parseDocuments({ repository: '', path: 'a.yaml' }, new TextEncoder().encode(yaml))[0]!
const outcome = (pattern: string, value: string) => {
  const found = matchPattern(node(pattern), node(value), () => undefined)
  return Array.isArray(found) ? found.map(path => path.join('/')).join(' ') || 'pass' : (found ?? 'unknown')
}

/** The semantics of github.com/kyverno/kyverno, pkg/engine/validate and pkg/engine/anchor. */
test.each([
  ['spec: {a: x}', 'spec: {a: x, b: y}', 'pass'],
  ['spec: {a: x}', 'spec: {a: y}', 'spec/a'],
  ['spec: {a: x}', 'spec: {}', 'spec/a'],
  ['spec: {a: "x | y"}', 'spec: {a: y}', 'pass'],
  ['spec: {a: "?* & !z*"}', 'spec: {a: zz}', 'spec/a'],
  ['spec: {a: "*"}', 'spec: {a: null}', 'spec/a'],
  ['spec: {a: "*"}', 'spec: {a: {b: c}}', 'pass'],
  ['spec: {a: ">3"}', 'spec: {a: 4}', 'unknown'],
  ['spec: {a: "{{ x }}"}', 'spec: {a: 4}', 'unknown'],
  ['spec: {(type): oci, url: x}', 'spec: {url: y}', 'skip'],
  ['spec: {(type): oci, url: x}', 'spec: {type: git, url: y}', 'skip'],
  ['spec: {(type): oci, url: x}', 'spec: {type: oci, url: y}', 'spec/url'],
  ['spec: {=(url): x}', 'spec: {}', 'pass'],
  ['spec: {=(url): x}', 'spec: {url: y}', 'spec/url'],
  ['spec: {X(url): "null"}', 'spec: {url: y}', 'spec/url'],
  ['spec: {X(url): "null"}', 'spec: {}', 'pass'],
  ['spec: {list: [{a: x}]}', 'spec: {list: [{a: x}, {a: y}]}', 'spec/list/1/a'],
  ['spec: {list: [{(n): b, a: x}]}', 'spec: {list: [{n: c, a: y}, {n: b, a: x}]}', 'pass'],
  ['spec: {list: [{(n): b, a: x}]}', 'spec: {list: [{n: c}]}', 'skip'],
  ['spec: {a: true}', 'spec: {a: true}', 'pass'],
  ['spec: {a: 1}', 'spec: {a: "1"}', 'spec/a'],
])('%s against %s: %s', (pattern, value, expected) => {
  expect(outcome(pattern, value)).toBe(expected)
})
