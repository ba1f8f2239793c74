import { describe, expect, test } from 'vitest'
import { decryptFile } from '../../../src/flux/sops/decrypt-file.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { agePair, type Pair, SopsFolder } from './real-sops.ts'

const TEXTS = [
  ...['plain', 'two words', 'yes', 'on', 'N', '1', '1.5', '0x1F', '1e3', 'true', 'null', '~', '', ' lead', 'trail '],
  ...['a: b', 'a #b', '#x', '- a', '-a', '? q', ':c', 'c:', '[x', '{y', "it's", '"q"', 'back\\slash', '1:30'],
  ...['2020-01-01', '2020-13-01', '1234-abc', '.5', 'é 日本', 'one\ntwo', 'one\n\ntwo\n', '%x', '@a', '!t', '&a', '*b'],
]
const FILE = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Secret',
  stringData: Object.fromEntries(TEXTS.map((text, index) => [`key-${index}`, text])),
  numbers: [0, 1, -5, 1.5, 123456, 0.25, 4294967296],
  words: [true, false, null, [], {}, [['nested', 'one\ntwo']]],
  deep: { a: { b: [{ c: 'x', d: ['y', { e: 'z' }] }, 'one\ntwo'], 'a.b/c': 1 }, on: 'off', $patch: 'delete' },
})

describe.skipIf(!findProgram('sops'))('beside the real sops', () => {
  const seal = async (text: string, args: readonly string[] = []): Promise<[string, string, Pair]> => {
    const pair = await agePair()
    const folder = new SopsFolder()
    folder.write('.sops.yaml', `creation_rules:\n  - age: ${pair.recipient}\n`)
    folder.write('plain.yaml', text)
    const sealed = await folder.run(['encrypt', ...args, 'plain.yaml'], [pair])
    folder.write('sealed.yaml', sealed)
    return [sealed, await folder.run(['decrypt', 'sealed.yaml'], [pair]), pair]
  }

  test.each([
    ['all of it', []],
    ['a part', ['--encrypted-regex', '^(stringData|deep)$']],
    ['all but a part', ['--unencrypted-regex', '^(apiVersion|kind|c)$']],
  ])('a YAML file in clear is what sops writes, byte for byte: %s', async (_, args) => {
    const [sealed, plain, pair] = await seal(FILE, args)
    expect(Buffer.from(await decryptFile(sealed, 'yaml', { age: [pair.secret] })).toString()).toBe(plain)
  })

  test.each([
    ['a: 2020-01-01', 'cannot be decrypted: a was encrypted as time, in a form that is not supported'],
    ['a: "x\\u0007y"', 'cannot be decrypted: a has special characters'],
    ['a: "x \\ny"', 'cannot be decrypted: a is an unusual text of several lines'],
    ['a: "<<"', 'cannot be decrypted: a looks like a number or a date'],
    ['a: 12345678.5', 'cannot be decrypted: a is a number of a form that is not supported'],
    ['"1": x', 'cannot be decrypted: 1 has a key that is long, or no plain word'],
    ['a: x\n---\nb: y', 'cannot be decrypted: it is not one YAML document with a map'],
  ])('what is not known how sops writes it is refused: %s', async (text, message) => {
    const [sealed, , pair] = await seal(text)
    await expect(decryptFile(sealed, 'yaml', { age: [pair.secret] })).rejects.toThrow(message)
  })
})

test('no refusal quotes the file', async () => {
  for (const text of ['hunter2: [', 'hunter2', '- hunter2', 'sops: hunter2', 'a: hunter2\nsops: {mac: x}']) {
    const refusal = await decryptFile(text, 'yaml', { age: [] }).catch(String)
    expect(refusal).toMatch(/cannot be decrypted/)
    expect(refusal).not.toContain('hunter2')
  }
})
