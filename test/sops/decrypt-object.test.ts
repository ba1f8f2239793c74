import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decryptSops } from 'sops-age'
import { describe, expect, test } from 'vitest'
import { normalise } from '../../src/flux/normalise/normalise.ts'
import { at, type Json, toJson } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/yaml/parse-documents.ts'
import type { Identities } from '../../src/sops/data-key.ts'
import { decryptObject } from '../../src/sops/decrypt-object.ts'
import { sealDocument } from './seal-document.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/sops')
const fixture = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const ageKey = (name: string) =>
  fixture(name)
    .split('\n')
    .find(line => line.startsWith('AGE-SECRET-KEY-'))!
const AGE: Identities = { age: [ageKey('age.txt')] }

/** As a rendered object reaches the worker: through Flux's types, what SOPS wrote beside it. */
function rendered(text: string) {
  const [root] = parseDocuments({ repository: '', path: 'secret.yaml' }, Buffer.from(text))
  if (root?.type !== 'map') throw new Error('no map')
  const [object] = normalise([{ root, trail: [] }])
  return { object: toJson(object!.root) as Record<string, Json>, sops: object!.sops ?? at(object!.root, ['sops'])! }
}

const opened = async (text: string, identities: Identities) => {
  const { object, sops } = rendered(text)
  const { data, stringData, sops: left } = await decryptObject(object, sops, identities)
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
    b: 'two\n',
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

test('a number is refused as Kubernetes refuses it', async () => {
  await expect(opened(await sealed(secret({ data: { pin: 1234 } })), AGE)).rejects.toThrow(
    'data.pin was encrypted as int, and only text is allowed there',
  )
})

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
