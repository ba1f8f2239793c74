import { describe, expect, test } from 'vitest'
import { at, type Json, type Path, toJson } from '../../src/kube/node.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { refusalAt } from '../repository/runner/refusal-of.ts'

const SOURCE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: source
data:
  word: word
  number: "5"
`
const TARGET = `apiVersion: example.com/v1
kind: Target
metadata:
  name: target
spec:
  text: old
  count: 1
  none: null
  list: [{name: b, v: x}, {name: "5", v: y}]
  yaml: |
    a: b
  wild: [{text: "a: b"}]
`

const entry = (source: string, path: string, more = ''): string =>
  `- source: {kind: ConfigMap, fieldPath: ${source}}\n  targets:\n  - select: {kind: Target}\n    fieldPaths: ['${path}']\n${more}`
const CREATE = '    options: {create: true}\n'

function built(replacements: string, files: Readonly<Record<string, string>> = {}) {
  const kustomization = `resources: [source.yaml, target.yaml]\nreplacements:\n${replacements}`
  return build(
    treeOf({ 'kustomization.yaml': kustomization, 'source.yaml': SOURCE, 'target.yaml': TARGET, ...files }),
    '',
    '',
  )
}

const refusal = (replacements: string, files: Readonly<Record<string, string>> = {}) =>
  refusalAt(() => built(replacements, files))

const replaced = (replacements: string, path: Path): Json | undefined => {
  const found = at(built(replacements)[1]!.root, path)
  return found && toJson(found)
}

describe('what kustomize refuses', () => {
  const cases: Record<string, string> = {
    'no source': "- targets: [{select: {kind: Target}, fieldPaths: ['spec.text']}]\n",
    'no targets': '- source: {kind: ConfigMap}\n',
    'a source and a value': '- source: {kind: ConfigMap}\n  sourceValue: x\n  targets: [{select: {}}]\n',
    'a value that is no text': '- sourceValue: 5\n  targets: [{select: {}}]\n',
    'a target without select': '- sourceValue: x\n  targets: [{fieldPaths: [a]}]\n',
    'no such source': '- source: {kind: Other}\n  targets: [{select: {}}]\n',
    'an empty source': entry('data.nothing', 'spec.text'),
    'a word for a number': entry('data.word', 'spec.count'),
    'no such field': entry('data.word', 'spec.other'),
    'a part that is no list': entry('data.word', 'spec.text.0', CREATE),
    'an element part without a value': entry('data.word', 'spec.list.[name].v'),
    'an index that is no number': entry('data.word', 'spec.text', '    options: {delimiter: x, index: "1"}\n'),
    'a path and a source': '- path: x.yaml\n  source: {kind: ConfigMap}\n',
  }
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => expect(refusal(text)).toMatch(/^kustomize-invalid @kustomization\.yaml:\d/))
  }
  test('a file that holds neither an entry nor a list', () => {
    expect(refusal('- path: x.yaml\n', { 'x.yaml': 'text\n' })).toBe('kustomize-invalid @kustomization.yaml:3')
  })
})

describe('what kustomize loses, leaks or decides by how something is written', () => {
  const cases: Record<string, string> = {
    'a field made in null': entry('data.word', 'spec.none.x', CREATE),
    'a text below a wildcard': entry('data.word', 'spec.wild.*.text.a'),
    'an expression that finds quotes': entry('data.word', 'spec.list.[name="].v'),
    'an expression that never fits what it makes': entry('data.word', 'spec.list.[name=z$z].v', CREATE),
    'a path into YAML text': entry('data.word', 'spec.yaml.a'),
    'a path that is made in YAML text': entry('data.word', 'spec.yaml.made', CREATE),
    'a name that is a number': entry('data.number', 'metadata.name'),
    'a map into itself':
      "- source: {kind: Target, fieldPath: spec}\n  targets: [{select: {kind: Target}, fieldPaths: ['spec.made'], options: {create: true}}]\n",
    'a list for labels':
      "- source: {kind: Target, fieldPath: spec.list}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: ['metadata.labels'], options: {create: true}}]\n",
    'an empty part': entry('data.word', 'spec..text'),
    'an unknown field': '- sourceValue: x\n  target: []\n',
  }
  for (const [name, text] of Object.entries(cases)) {
    test(name, () => expect(refusal(text)).toMatch(/^kustomize-unsupported @kustomization\.yaml:\d/))
  }
  test('a path of labels with a byte order mark', () => {
    const labels = 'labels:\n- pairs: {a: b}\n  fields: [{path: "spec/\\ufeffx", create: true}]\n'
    expect(refusal(`${entry('data.word', 'spec.text')}${labels}`)).toMatch(
      /^kustomize-unsupported @kustomization\.yaml:9/,
    )
  })
  test('all annotations of a generated object', () => {
    const generated = 'configMapGenerator:\n- name: made\n  literals: [a=b]\n  options: {annotations: {k: v}}\n'
    const source = '- source: {name: made, fieldPath: metadata.annotations}\n'
    const target = "  targets: [{select: {kind: Target}, fieldPaths: ['spec.copy'], options: {create: true}}]\n"
    expect(refusal(`${source}${target}${generated}`)).toBe('kustomize-unsupported @kustomization.yaml:3')
  })
})

describe('a source that is a target, too', () => {
  const entries = `- source: {kind: Target, fieldPath: spec.text}
  targets:
  - select: {kind: Target}
    fieldPaths: [spec.text]
    options: {delimiter: "-", index: 9}
  - select: {kind: Target}
    fieldPaths: [spec.list.0.v]
`
  test('gives later targets what it has become', () => {
    expect(replaced(entries, ['spec', 'text'])).toBe('old-old')
    expect(replaced(entries, ['spec', 'list', 0, 'v'])).toBe('old-old')
  })
})

describe('origins', () => {
  test('a copied value stands where its source was written, and came through the entry', () => {
    const [, target] = built(entry('data.word', 'spec.text'))
    const { file, line, via } = at(target!.root, ['spec', 'text'])!.origin
    expect(`${file}:${line}`).toBe('source.yaml:6')
    expect(via).toEqual([{ step: 'replacement', file: 'kustomization.yaml', line: 3 }])
  })
  test('of an entry in a file that file is the step', () => {
    const file = `# first\n${entry('data.word', 'spec.text')}`
    const [, target] = built('- path: dir/x.yaml\n', { 'dir/x.yaml': file })
    const { via } = at(target!.root, ['spec', 'text'])!.origin
    expect(via).toEqual([{ step: 'replacement', file: 'dir/x.yaml', line: 2 }])
  })
})

test('values that double with every entry end in a limit, not in memory', () => {
  const swap = (from: string, to: string, index: number): string =>
    `- source: {kind: ${from}, fieldPath: data}\n  targets: [{select: {kind: ${to}}, fieldPaths: [data.n${index}], options: {create: true}}]\n`
  const files = { 'target.yaml': SOURCE.replaceAll('ConfigMap', 'Target') }
  const entries = Array.from({ length: 40 }, (_, index) =>
    index % 2 ? swap('ConfigMap', 'Target', index) : swap('Target', 'ConfigMap', index),
  )
  expect(refusal(entries.join(''), files)).toMatch(/^render-limits/)
})
