import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decryptFile } from '../../../src/flux/sops/decrypt-file.ts'
import { sopsFormatOf } from '../../../src/kube/sops.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/sops')
const read = (name: string) => readFileSync(join(FIXTURES, name), 'utf8')
const age = [/AGE-SECRET-KEY-\S+/.exec(read('age.txt'))![0]]

describe('a file in clear is byte for byte what sops writes', () => {
  test.each([
    ['dotenv', 'env'],
    ['json', 'json'],
    ['binary', 'bin'],
  ] as const)('%s', async (format, name) => {
    const plain = await decryptFile(read(`file.${name}`), format, { age })
    expect(Buffer.from(plain).toString()).toBe(read(`file.plain.${name}`))
  })
})

const swapped = (text: string) => {
  const [first, second] = text.match(/ENC\[[^\]]*type:str\]/g)!
  return text.replace(first!, '@').replace(second!, first!).replace('@', second!)
}

test.each([
  ['another key', read('file.env'), 'none of the keys opens it', ['AGE-SECRET-KEY-1QQQ']],
  ['values that changed places', swapped(read('file.env')), 'was not encrypted for its place'],
  ['a value in clear', read('file.env').replace(/^USER=.*$/m, 'USER=hunter2'), 'is not encrypted'],
  ['a line without a name', `hunter2\n${read('file.env')}`, 'a line has no ='],
])('%s ends it without a value: %s', async (_, text, message, keys = age) => {
  const error = await decryptFile(text, 'dotenv', { age: keys }).catch(String)
  expect(error).toContain(message)
  expect(error).not.toContain('hunter2')
})

test('what is no JSON is not quoted', async () => {
  const error = await decryptFile('{"hunter2', 'json', { age }).catch(String)
  expect(error).toContain('it is not one JSON object')
  expect(error).not.toContain('hunter2')
})

test('the format is that of the key, as sops knows it', () => {
  expect(['a.env', 'a.json', '.dockerconfigjson', 'token', 'a.yaml', 'a.yml', 'a.ini'].map(sopsFormatOf)).toEqual([
    'dotenv',
    'json',
    'json',
    'binary',
    'yaml',
    'yaml',
    undefined,
  ])
})
