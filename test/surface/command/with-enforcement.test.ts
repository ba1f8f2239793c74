import { describe, expect, test } from 'vitest'
import { withEnforcement } from '../../../src/surface/command/fleet-file.ts'

test.each<[string, string | undefined, string]>([
  ['no file', undefined, 'enforcement: report\n'],
  ['an empty one', '', 'enforcement: report\n'],
  ['only comments', '# ours\n', '# ours\nenforcement: report\n'],
  ['no line break at the end', 'profile: baseline', 'profile: baseline\nenforcement: report\n'],
  ['the key', 'enforcement: block\nprofile: baseline\n', 'enforcement: report\nprofile: baseline\n'],
  ['quotes and a comment', `"enforcement" : 'block'  # why\n`, `"enforcement" : report  # why\n`],
  [
    'the key of a tenant',
    'tenants:\n  - name: a\n    enforcement: block\n',
    'tenants:\n  - name: a\n    enforcement: block\nenforcement: report\n',
  ],
  ['Windows', 'enforcement: block\r\nprofile: baseline\r\n', 'enforcement: report\r\nprofile: baseline\r\n'],
])('%s', (_name, text, expected) => {
  expect(withEnforcement(text, 'report')).toBe(expected)
})

describe('is refused, never guessed', () => {
  test.each<[string, string]>([
    ['a map between braces', '{enforcement: block}\n'],
    ['a map between braces without the key', '{profile: baseline}\n'],
    ['an end of the document', 'profile: baseline\n...\n'],
    ['a value on a line of its own', 'enforcement:\n  block\n'],
    ['an unknown key', 'nonsense: 1\n'],
    ['a key that is there twice', 'enforcement: block\nenforcement: block\n'],
    ['text that is no YAML', ': : :\n\t'],
  ])('%s', (_name, text) => {
    expect(() => withEnforcement(text, 'report')).toThrow(expect.objectContaining({ code: 'command-input' }))
  })

  test('what it says already', () => {
    expect(() => withEnforcement(undefined, 'block')).toThrow('already')
    expect(() => withEnforcement('enforcement: report\n', 'report')).toThrow('already')
  })
})
