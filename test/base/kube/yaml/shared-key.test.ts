import { expect, test } from 'vitest'
import { sharedKey } from '../../../../src/kube/yaml/read-key.ts'

const KEPT = 64 * 1024
const long = (length: number) => 'a'.repeat(length)

test('a key stays what it is, whatever it is called', () => {
  for (const key of [
    '',
    'a',
    'spec',
    '__proto__',
    'constructor',
    '1',
    '007',
    'é',
    '\u{1f600}',
    long(KEPT),
    long(KEPT + 1),
  ])
    for (const _again of [1, 2]) expect(sharedKey(key)).toBe(key)
})

test('more keys than are kept stay what they are', () => {
  for (let at = 0; at < 20_000; at++) expect(sharedKey(`key-${at}`)).toBe(`key-${at}`)
  expect(sharedKey('key-0')).toBe('key-0')
})
