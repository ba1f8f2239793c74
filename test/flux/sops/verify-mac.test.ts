import { generateIdentity, identityToRecipient } from 'age-encryption'
import { beforeAll, expect, test } from 'vitest'
import { verifyMac } from '../../../src/flux/sops/decrypt-object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { sealDocument } from './seal-document.ts'

type Seal = Awaited<ReturnType<typeof verifyMac>>

let identity = ''
let recipient = ''
beforeAll(async () => {
  identity = await generateIdentity()
  recipient = await identityToRecipient(identity)
})

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'x', namespace: 'apps', labels: { a: 'b' }, generation: 3 },
  immutable: false,
  stringData: { password: 'hunter2', pin: 1234, on: true, list: ['a', 'b'], none: null },
}

const sealOf = (texts: readonly string[], identities = [identity]): Promise<Seal> =>
  verifyMac(parseDocuments({ repository: '', path: 'x.yaml' }, Buffer.from(texts.join('\n---\n'))), { age: identities })
const sealed = async (options = {}) => JSON.stringify(await sealDocument(SECRET, recipient, options))

test('what SOPS wrote is sound', async () => {
  expect(await sealOf([await sealed()])).toBe('sound')
  expect(await sealOf([await sealed({ onlyEncrypted: true })])).toBe('sound')
})

test.each<[string, (text: string) => string, Seal?]>([
  ['a value in the open', (text: string) => text.replace('"apps"', '"kube-system"')],
  ['a name of an encrypted value', (text: string) => text.replace('"pin"', '"pan"'), 'corrupt'],
  ['a value that is gone', (text: string) => text.replace(/,"labels":\{[^}]*\}/, '')],
  ['a value that is new', (text: string) => text.replace('"metadata":{', '"metadata":{"uid":"x",')],
  ['a value that is plain now', (text: string) => text.replace(/"password":"[^"]*"/, '"password":"other"')],
  ['a switch', (text: string) => text.replace('"immutable":false', '"immutable":true')],
  ['the MAC itself', (text: string) => text.replace(/"mac":"[^"]*"/, '"mac":"ENC[x]"')],
  ['the time of the MAC', (text: string) => text.replace('2026-01-01', '2026-01-02')],
  ['the mode of the MAC', (text: string) => text.replace('"version"', '"mac_only_encrypted":true,"version"')],
])('changed without the key: %s', async (_what, change, expected = 'changed') => {
  const text = await sealed()
  const changed = change(text)
  expect(changed).not.toBe(text)
  expect(await sealOf([changed])).toBe(expected)
})

test('where only encrypted values count, the others may change', async () => {
  const text = await sealed({ onlyEncrypted: true })
  expect(await sealOf([text.replace('"apps"', '"other"')])).toBe('sound')
  expect(await sealOf([text.replace('"pin"', '"pan"')])).toBe('corrupt')
})

test('two values that changed places, and a document that was added', async () => {
  const { stringData, ...rest } = (await sealDocument(SECRET, recipient)) as { stringData: Record<string, unknown> }
  const turned = Object.fromEntries(Object.entries(stringData).reverse())
  expect(await sealOf([JSON.stringify({ ...rest, stringData: turned })])).toBe('changed')
  expect(await sealOf([await sealed(), '{"kind": "ClusterRoleBinding"}'])).toBe('changed')
})

test('a data key that does not open, or is that of another file', async () => {
  const [text, other] = [await sealed(), await sealed()]
  const keyOf = (file: string) => /"enc":"[^"]*"/.exec(file)![0]
  expect(await sealOf([text.replace('BEGIN AGE', 'BEGIN XXX')])).toBe('locked')
  expect(await sealOf([text.replace(keyOf(text), '"enc":"garbage"')])).toBe('locked')
  expect(await sealOf([text.replace(keyOf(text), keyOf(other))])).toBe('corrupt')
  const [second, more] = [await generateIdentity(), await generateIdentity()]
  const entry = `{"recipient":"${await identityToRecipient(second)}",${keyOf(text)}}`
  const both = text.replace('"age":[', `"age":[${entry},`)
  expect(await sealOf([both])).toBe('sound')
  expect(await sealOf([both], [second])).toBe('locked')
  expect(await sealOf([both], [identity, second])).toBe('locked')
  expect(await sealOf([both], [more])).toBe('unknown')
})

test('without the key, or with a key that is split, nothing is known', async () => {
  const text = await sealed()
  expect(await sealOf([text], [await generateIdentity()])).toBe('unknown')
  expect(await sealOf([text], [])).toBe('unknown')
  expect(await sealOf([text.replace('"age":', '"key_groups":[{},{}],"age":')])).toBe('unknown')
  expect(await sealOf(['{"kind": "Secret"}'])).toBe('unknown')
})
