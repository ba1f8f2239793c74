import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decryptSops } from 'sops-age'
import { describe, expect, test } from 'vitest'
import { normalise } from '../../../src/flux/built-objects.ts'
import type { Identities } from '../../../src/flux/sops/decrypt-object.ts'
import { at, type Json, toJson } from '../../../src/kube/node.ts'
import { openDocument, openedRoot, rootOf } from './open-document.ts'
import { sealDocument } from './seal-document.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/sops')
const fixture = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const ageKey = (name: string) =>
  fixture(name)
    .split('\n')
    .find(line => line.startsWith('AGE-SECRET-KEY-'))!
const AGE: Identities = { age: [ageKey('age.txt')] }

/** The values of a Secret or ConfigMap as it is applied. */
const opened = async (text: string, identities: Identities) => {
  const root = await openedRoot(rootOf(text), identities)
  const [object] = normalise([{ root, trail: [] }])
  const { data, stringData, sops: left } = toJson(object!.root) as Record<string, Json>
  expect(left).toBeUndefined()
  return { ...(data as object), ...(stringData as object) }
}
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('what the real sops encrypted', () => {
  test.each<[string, Identities]>([
    ['age.yaml', AGE],
    ['age-pq.yaml', { age: [ageKey('age-pq.txt')] }],
    ['pgp.yaml', { age: [], pgp: [fixture('pgp.asc')] }],
  ])('%s is opened by its key, and by no other', async (name, identities) => {
    expect(await opened(fixture(name), identities)).toEqual({ key: base64('value') })
    const all = { age: [ageKey('age.txt'), ageKey('age-pq.txt')], pgp: [fixture('pgp.asc')] }
    expect(await opened(fixture(name), all)).toEqual({ key: base64('value') })
    for (const other of ['age.yaml', 'age-pq.yaml', 'pgp.yaml'].filter(one => one !== name)) {
      await expect(opened(fixture(other), identities)).rejects.toThrow('none of the keys opens it')
    }
  })

  test('another reader of SOPS opens the same', async () => {
    const read = await decryptSops(fixture('age.yaml'), { secretKey: AGE.age[0]!, fileType: 'yaml' })
    expect(read.stringData).toEqual({ key: 'value' })
  })
})

const sealed = async (document: Record<string, unknown>) =>
  JSON.stringify(await sealDocument(document, 'age1l44xcng8dqj32nlv6d930qvvrny05hglzcv9qpc7kxjc6902ma4qufys29'))
const secret = (fields: Record<string, unknown>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'x', namespace: 'apps' },
  ...fields,
})

test('data, stringData and ConfigMaps are opened; what is in clear stays as it is', async () => {
  const data = { a: base64('one'), empty: '' }
  expect(await opened(await sealed(secret({ data, stringData: { b: 'two\n' } })), AGE)).toEqual({
    a: base64('one'),
    empty: '',
    b: base64('two\n'),
  })
  expect(await opened(await sealed(secret({ stringData: { b: 'two\n' } })), AGE)).toEqual({ b: base64('two\n') })
  const map = { ...secret({ data: { c: 'three' } }), kind: 'ConfigMap' }
  expect(await opened(await sealed(map), AGE)).toEqual({ c: 'three' })
})

test('a value that was moved to another field, changed or cut is refused, and nothing of it is said', async () => {
  const whole = JSON.parse(await sealed(secret({ data: { a: base64('one'), b: base64('two') } })))
  const moved = { ...whole, data: { a: whole.data.b, b: whole.data.a } }
  await expect(opened(JSON.stringify(moved), AGE)).rejects.toThrow('data.a was not encrypted for this field')
  const other = { ...whole, stringData: { a: whole.data.a }, data: { b: whole.data.b } }
  await expect(opened(JSON.stringify(other), AGE)).rejects.toThrow('stringData.a was not encrypted for this field')
  const changed = whole.data.a.replace(/data:./, (start: string) => (start === 'data:A' ? 'data:B' : 'data:A'))
  const error = await opened(JSON.stringify({ ...whole, data: { a: changed } }), AGE).catch(String)
  expect(error).toContain('data.a was not encrypted for this field, or was changed since then')
  expect(error).not.toContain('ENC[')
})

const RECIPIENT = 'age1l44xcng8dqj32nlv6d930qvvrny05hglzcv9qpc7kxjc6902ma4qufys29'
const sealedBy = (document: Record<string, unknown>, regex = '^data$') => sealDocument(document, RECIPIENT, { regex })

test('whatever is encrypted comes out as what it was', async () => {
  const spec = { data: [1, -7, true, false, 2 ** 40, ['x', { y: 'z: "q"\n' }]], __proto__x: null, open: 'text' }
  const document = { kind: 'Widget', spec }
  expect(await openDocument((await sealedBy(document)) as never, AGE)).toEqual(document)
  // the data key of one file opens nothing of another
  const [one, two] = [await sealedBy(document), await sealedBy(document)]
  await expect(openDocument({ ...one, spec: two.spec } as never, AGE)).rejects.toThrow(
    'was not encrypted for this field',
  )
})

test.each<[string, unknown, unknown]>([
  ['int', '9223372036854775807', Number(9223372036854775807n)],
  ['int', '9223372036854775808', undefined],
  ['int', '0x10', undefined],
  ['float', '0.1', 0.1],
  ['float', 'NaN', undefined],
  ['float', '1e400', undefined],
  ['bool', 'True', true],
  ['bool', 'maybe', undefined],
  ['bytes', 'text', base64('text')],
  ['comment', 'a', undefined],
  ['time', '2026-01-01T00:00:00Z', undefined],
])('a value that was encrypted as %s, %s', async (type, text, value) => {
  const sealed = await sealDocument({ data: text }, RECIPIENT, { regex: '^data$', type: type as string })
  const opening = openedRoot(sealed as never, AGE)
  if (value === undefined) {
    await expect(opening).rejects.toThrow(`data was encrypted as ${type}, in a form that is not supported`)
  } else expect(at(await opening, ['data'])).toMatchObject({ value })
})

test.each<[string, object, string]>([
  [
    'more than its expression names',
    { encrypted_regex: '^spec$' },
    'data.a is encrypted, and the file says that it is not',
  ],
  [
    'less than its expression names',
    { encrypted_regex: '^(data|kind)$' },
    'kind is not encrypted, and the file says that it is',
  ],
  ['all, without an expression', {}, 'apiVersion is not encrypted, and the file says that it is'],
  [
    'by comments, which are gone',
    { encrypted_comment_regex: 'x' },
    'data.a is encrypted, and the file says that it is not',
  ],
  ['by one that Go refuses', { encrypted_regex: '(' }, 'data.a is encrypted, and the file says that it is not'],
  ['by one that only Go reads', { encrypted_regex: '^(\\p{Greek}|data)$' }, 'which is not supported'],
])('what a file encrypts: %s, as Flux refuses it', async (_, selection, message) => {
  const { sops, ...document } = await sealedBy(secret({ data: { a: 'x' } }))
  const { encrypted_regex: _regex, ...block } = sops as Record<string, unknown>
  await expect(openDocument({ ...document, sops: { ...block, ...selection } } as never, AGE)).rejects.toThrow(message)
})

test('what a file encrypts: by an expression that takes too long', async () => {
  const names = Object.fromEntries(Array.from({ length: 100 }, (_, index) => ['a'.repeat(800 + index), 'x']))
  const { sops, ...document } = await sealedBy({ ...names, ...secret({ data: { a: 'x' } }) })
  const block = { ...(sops as object), encrypted_regex: `${'(a|bb)*'.repeat(80)}x$` }
  await expect(openDocument({ ...document, sops: block } as never, AGE)).rejects.toThrow('take too long')
})

test.each<[object]>([[{ encrypted_suffix: 'ata' }], [{ unencrypted_regex: '^(apiV|kind|meta)' }]])(
  'what a file encrypts: by %j, as SOPS reads it',
  async selection => {
    const { sops, ...document } = await sealedBy(secret({ data: { a: 'x' } }), '^data$')
    const { encrypted_regex: _regex, ...block } = sops as Record<string, unknown>
    const { metadata: _metadata, ...rest } = document
    const given = { ...rest, sops: { ...block, ...selection } } as never
    expect(await openDocument(given, AGE)).toMatchObject({ data: { a: 'x' } })
  },
)

test('a key that is split among groups, damaged text, too many recipients: not opened', async () => {
  const whole = JSON.parse(await sealed(secret({ data: { a: base64('one') } })))
  const { age } = whole.sops
  const blocks = [
    { ...whole.sops, age: [], key_groups: [{ age }, { age }] },
    { ...whole.sops, age: [{ enc: 'nonsense' }] },
    { ...whole.sops, age: [...Array.from({ length: 32 }, () => ({ enc: 'x' })), ...age] },
    { ...whole.sops, age: 'text' },
  ]
  for (const sops of blocks) {
    await expect(opened(JSON.stringify({ ...whole, sops }), AGE)).rejects.toThrow('none of the keys opens it')
  }
  const last = { ...whole.sops, age: [...Array.from({ length: 31 }, () => ({ enc: 'x' })), ...age] }
  expect(await opened(JSON.stringify({ ...whole, sops: last }), AGE)).toEqual({ a: base64('one') })
})
