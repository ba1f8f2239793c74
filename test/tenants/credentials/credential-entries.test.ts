import { describe, expect, test } from 'vitest'
import {
  type CredentialEntry,
  credentialEntries,
  credentialsText,
  type KnownKeys,
} from '../../../src/tenants/credential-entries.ts'
import type { CredentialReport, SourceSecret } from '../../../src/tenants/credential-report.ts'

const OPS = 'https://github.com/acme/ops-team'
const source: SourceSecret = {
  tenant: 'ops-team',
  cluster: 'staging',
  source: 'GitRepository ops/ops-team',
  address: 'ssh://git@github.com/acme/ops-team',
  url: OPS,
  secret: 'ops/ops-team-auth',
  state: 'sealed',
  file: 'auth.yaml',
  line: 1,
}
const report = (more: Partial<CredentialReport> = {}): CredentialReport => ({
  ...{ sources: [source], resealed: [], clear: [], notVisible: [] },
  ...more,
})
const key = (title: string, more = {}) => ({ title, readOnly: true, createdAt: '2026-01-02T03:04:05Z', ...more })
const known = (keys: readonly ReturnType<typeof key>[], url = OPS): KnownKeys => ({
  ...{ fleet: 'acme/fleet', repositories: new Map([[url, keys]]), notVisible: [] },
})
const TITLE = 'Flux: tenant ops-team of acme/fleet, requested by ada'
const found = (entries: readonly CredentialEntry[]) => entries.map(({ kind, note }) => [kind, note])

describe('deploy keys', () => {
  test.each([
    [null, 'made 2026-01-02, 30 days old, never used'],
    ['2026-01-31T00:00:00Z', 'made 2026-01-02, 30 days old, last used 2026-01-31'],
    [undefined, 'made 2026-01-02, 30 days old; its last use is not visible'],
  ])('age of one last used %s', (lastUsed, note) => {
    const keys = known([key(TITLE, lastUsed === undefined ? {} : { lastUsed })])
    expect(found(credentialEntries(report(), keys, '2026-02-01'))).toEqual([['key', note]])
  })

  test('none, several, one that can write', () => {
    const kinds = (...keys: ReturnType<typeof key>[]) =>
      credentialEntries(report(), known(keys), '2026-02-01').map(one => one.kind)
    expect(kinds()).toEqual(['tenant-without-key'])
    expect(kinds(key('by hand'))).toEqual(['tenant-without-key'])
    expect(kinds(key(TITLE), key(TITLE))).toEqual(['key', 'key', 'several-keys'])
    expect(kinds(key(TITLE, { readOnly: false }))).toEqual(['key', 'writable-key'])
    expect(kinds(key(TITLE), key('by hand'))).toEqual(['key'])
  })

  test('a key of a tenant that does not read the repository, and titles that only look like one', () => {
    const of = (title: string) => credentialEntries(report(), known([key(TITLE), key(title)]), '2026-02-01').at(0)!.kind
    expect(of('Flux: tenant gone of acme/fleet, requested by ada')).toBe('key-of-no-tenant')
    expect(of('Flux: tenant ops-team of acme/fleet2, requested by ada')).toBe('key')
    expect(of('Flux: tenant gone of acme/fleet2, requested by ada')).toBe('key')
    expect(of('flux: tenant gone of acme/fleet, requested by ada')).toBe('key')
  })

  test('what GitHub does not show is said, never left out', () => {
    const elsewhere = credentialEntries(report(), known([], 'https://github.com/acme/other'), '2026-02-01')
    expect(found(elsewhere)).toEqual([['not-visible', 'its deploy keys: the App cannot list them']])
    expect(found(credentialEntries(report(), undefined, '2026-02-01'))).toEqual([
      ['not-visible', expect.stringContaining('only the App can list them')],
    ])
  })
})

describe('git', () => {
  const notes = (more: Partial<CredentialReport>) => found(credentialEntries(report(more), known([key(TITLE)]), ''))

  test('recipients that left have read the values; those that are missing cannot', () => {
    const resealed = [{ file: 'a b.yaml', line: 3, left: ['age:age1old'], missing: ['age:age1new'] }]
    expect(notes({ resealed }).at(-1)).toEqual(['other-recipients', expect.stringMatching(/age1old.*replace.*age1new/)])
    const text = credentialsText(credentialEntries(report({ resealed }), undefined, ''))
    expect(text).toContain("sops updatekeys --yes 'a b.yaml'\n")
    expect(text).toContain('Bailiwick has no private key')
    expect(credentialsText(credentialEntries(report(), undefined, ''))).not.toContain('updatekeys')
  })

  test('a file name does not leave the command or the Markdown', () => {
    const resealed = [{ file: "x'; rm -rf ~\n```\n# `", line: 1, left: ['age:age1old'], missing: [] }]
    const text = credentialsText(credentialEntries(report({ resealed }), undefined, ''))
    const lines = text.split('\n')
    expect(lines.filter(line => line.startsWith('```'))).toHaveLength(4)
    expect(lines.find(line => line.startsWith('sops'))).toBe("sops updatekeys --yes 'x'\\''; rm -rf ~?????# ?'")
  })

  test('a Secret in clear, one that only the cluster has, a token', () => {
    const clear = [{ object: 'Secret ops/x', file: 'x.yaml', line: 2 }]
    expect(notes({ clear }).at(-1)).toEqual(['in-clear', expect.stringContaining('plain-text')])
    const { file: _file, line: _line, ...rest } = source
    expect(notes({ sources: [{ ...rest, state: 'missing' }] }).at(-1)).toEqual([
      'not-visible',
      'Secret ops/ops-team-auth of tenant ops-team on staging: git does not have it',
    ])
    expect(notes({ sources: [{ ...source, address: OPS }] }).at(-1)![1]).toContain('its token are not in git')
  })
})
