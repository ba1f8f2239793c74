import { describe, expect, test } from 'vitest'
import { fieldLines, lineOfField } from '../../../src/kube/field-lines.ts'
import { at, canonical, type MapNode, type Node, type Path } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'

const TEXT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app.kubernetes.io/name: web
    app: short
    "10": ten
    "9": nine
    __proto__: odd
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: first
          image: a
        - name: app
          image: b
          ports:
            - containerPort: 80
              protocol: TCP
            - {containerPort: 80, protocol: UDP}
          args: [one, two]
      finalizers:
        - a/b
`

const parse = (text: string) =>
  parseDocuments({ repository: 'https://example.com/r', path: 'a.yaml' }, Buffer.from(text))[0]! as MapNode
const root = parse(TEXT)
const line = (field: string) => lineOfField(canonical(root), fieldLines(root), field)?.line

describe('the line of a field that the API server names', () => {
  test.each([
    ['spec.replicas', 12],
    ['.spec.replicas', 12],
    ['spec.template.spec.containers[1].image', 19],
    ['.spec.template.spec.containers[name="app"].image', 19],
    ['.spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="UDP"].protocol', 23],
    ['spec.template.spec.containers[1].ports[0].protocol', 22],
    ['.spec.template.spec.finalizers[="a/b"]', 26],
    ['metadata.labels[app.kubernetes.io/name]', 6],
    ['.metadata.labels.app.kubernetes.io/name', 6],
    ['metadata.labels.app', 7],
    ['metadata.labels.10', 8],
    ['metadata.labels[9]', 9],
    ['metadata.labels[__proto__]', 10],
    ['spec.template.spec.containers[1].args[1]', 24],
    // what holds a value is where its key stands
    ['spec.template', 13],
    ['spec.template.spec.containers', 15],
  ])('%s', (field, expected) => {
    expect(line(field)).toBe(expected)
  })

  test.each([
    ['spec.selector', 11],
    ['spec.template.spec.containers[1].resources.limits[memory]', 18],
    ['spec.template.spec.containers[7].image', 15],
    ['spec.template.spec.containers[name="none"].image', 15],
    ['spec.template.spec.containers[name="app", image=]', 15],
    ['spec.template.spec.containers[-1]', 15],
    ['spec.template.spec.containers[99999999999999999999]', 15],
    ['spec.replicas.deeper[0]', 12],
    ['metadata.labels.constructor', 5],
    ['metadata.labels[toString]', 5],
    ['metadata.labels[app.kubernetes.io/name', 5],
    ['spec..replicas', 11],
  ])('of what is not there, the nearest part above it: %s', (field, expected) => {
    expect(line(field)).toBe(expected)
  })

  test.each([
    '',
    '.',
    '[',
    ']',
    '[]',
    '[[[[',
    '....',
    '__proto__',
    'constructor',
    'length',
    '[0]',
    'status.x',
    '\u0000',
    '['.repeat(300),
    '.'.repeat(300),
  ])('nothing of it is there: %j', field => {
    expect(line(field)).toBeUndefined()
  })

  test('every field of an object has its own line', () => {
    const text = canonical(root)
    const lines = fieldLines(root)
    const paths: Path[] = []
    const visit = (node: Node, path: Path) => {
      if (path.length > 0) paths.push(path)
      if (node.type === 'map') for (const [key, { value }] of node.fields) visit(value, [...path, key])
      if (node.type === 'list') for (const [index, item] of node.items.entries()) visit(item, [...path, index])
    }
    visit(root, [])
    for (const path of paths) {
      const node = at(root, path)!
      if (node.type !== 'scalar') continue
      const field = path.map(step => `[${step}]`).join('')
      expect([field, lineOfField(text, lines, field)]).toEqual([
        field,
        { repository: 'https://example.com/r', file: 'a.yaml', line: node.origin.line },
      ])
    }
    expect(paths.length).toBeGreaterThan(30)
  })

  test('what was generated stands in no file: the line is that of the part above it', () => {
    const nowhere = { repository: '', file: '', line: 0, column: 0 }
    const spec = root.fields.get('spec')!
    const replicas = { type: 'scalar', value: 1, origin: nowhere } as const
    const value = { ...spec.value, fields: new Map([['replicas', { key: nowhere, value: replicas }]]) } as MapNode
    const made: MapNode = { ...root, fields: new Map([...root.fields, ['spec', { ...spec, value }]]) }
    expect(lineOfField(canonical(made), fieldLines(made), 'spec.replicas')).toMatchObject({ file: 'a.yaml', line: 11 })
  })
})
