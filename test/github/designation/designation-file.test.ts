import { describe, expect, test } from 'vitest'
import { readDesignationFile } from '../../../src/github/designate.ts'
import { isOfAccount, namesRepository, parseFleetName } from '../../../src/github/fleet-name.ts'

const read = (text: string) => readDesignationFile('https://github.com/acme/.github', new TextEncoder().encode(text))

describe('bailiwick.yaml', () => {
  test('lists repositories by name or address, on a branch or not', () => {
    expect(read('fleets:\n  - acme/fleet\n  - https://GitHub.com/Acme/Edge.git#production\n')).toEqual([
      { repository: 'acme/fleet' },
      { repository: 'https://github.com/acme/edge', branch: 'production' },
    ])
    expect(read('fleets:\n  - repository: Acme/Fleet\n    branch: main\n')).toEqual([
      { repository: 'acme/fleet', branch: 'main' },
    ])
  })

  test.each([
    ['', 'is empty'],
    ['fleets: acme/fleet\n', 'fleets is not a list'],
    ['fleets: []\n', 'fleets is not a list'],
    ['fleet: [acme/fleet]\n', '"fleet" is an unknown key'],
    ['fleets: [fleet]\n', 'fleets[0] is not the name of a repository'],
    ['fleets: [acme/*]\n', 'fleets[0] is not the name of a repository'],
    ['fleets: [{repository: acme/fleet, branch: 1}]\n', 'fleets[0].branch is not text'],
    ['fleets: [{repository: acme/fleet, id: 1}]\n', '"fleets[0].id" is an unknown key. Allowed: repository, branch'],
    ['fleets: [acme/fleet]\n---\nfleets: [acme/other]\n', 'more than one document'],
    ['fleets: [acme/fleet', ''],
  ])('%j is refused: %s', (text, why) => {
    expect(() => read(text)).toThrow(why)
  })
})

test('names are compared as GitHub does, and never by a part of them', () => {
  const url = 'https://github.com/acme/fleet'
  const name = (text: string) => parseFleetName(text)!
  for (const text of ['acme/fleet', 'ACME/Fleet', 'git@github.com:acme/fleet.git', 'ssh://git@github.com/Acme/fleet']) {
    expect(namesRepository(name(text), url), text).toBe(true)
  }
  for (const text of [
    'acme/fleet2',
    'acme-evil/fleet',
    'https://example.com/acme/fleet',
    'https://github.com/acme/x/fleet',
  ]) {
    expect(namesRepository(name(text), url), text).toBe(false)
  }
  expect(isOfAccount(name('acme/fleet'), 'https://github.com/acme')).toBe(true)
  expect(isOfAccount(name('acme-evil/fleet'), 'https://github.com/acme')).toBe(false)
  expect(isOfAccount(name('https://example.com/acme/fleet'), 'https://github.com/acme')).toBe(false)
})
