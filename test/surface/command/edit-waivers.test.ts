import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { readFleetText } from '../../../src/fleet/config/fleet-file.ts'
import { withWaivers } from '../../../src/surface/command/fleet-file.ts'
import { subjectKey, type WaiverEntry } from '../../../src/surface/command/waiver.ts'

const ENTRY: WaiverEntry = {
  ...{ rule: 'pod-security', cluster: 'staging', kind: 'apps/Deployment', namespace: 'apps', name: 'web' },
  violations: [{ fingerprint: 'a'.repeat(32), severity: 'high', field: '/spec/replicas' }],
  ...{ reason: 'It moves.', requester: 'dora', expires: '2026-12-31' },
}
const BLOCK = `  - rule: pod-security
    object:
      kind: apps/Deployment
      namespace: apps
      name: web
    cluster: staging
    violations: [{fingerprint: "${'a'.repeat(32)}", severity: high, field: "/spec/replicas"}]
    reason: "It moves."
    requester: dora
    expires: "2026-12-31"
`
const indented = (spaces: string) => BLOCK.replace(/^ {2}/gm, spaces)
const OTHER = `waivers:
  # why
  - rule: sa-required # here
    object: {kind: Kustomization, namespace: apps, name: web}
    reason: r
    approver: ada
    expires: 2026-12-31   # the end
`

describe('a new waiver', () => {
  test.each([
    ['no file', undefined, `waivers:\n${BLOCK}`],
    ['an empty file', '', `waivers:\n${BLOCK}`],
    ['comments alone', '# to be written\n', `# to be written\nwaivers:\n${BLOCK}`],
    ['a file without waivers', 'profile: baseline', `profile: baseline\nwaivers:\n${BLOCK}`],
    ['an empty list', 'waivers: []   # none\nprofile: baseline\n', `waivers:   # none\n${BLOCK}profile: baseline\n`],
    ['others', OTHER, `${OTHER}${BLOCK}`],
    ['others without an end', OTHER.trimEnd(), `${OTHER}${BLOCK}`],
    ['others before more', `${OTHER}# last\nprofile: baseline\n`, `${OTHER}${BLOCK}# last\nprofile: baseline\n`],
    ['no indent', OTHER.replace(/^ {2}/gm, ''), OTHER.replace(/^ {2}/gm, '') + indented('')],
  ])('comes into %s', (_what, before, after) => {
    expect(withWaivers(before, [ENTRY])).toBe(after)
  })

  test('keeps line breaks of Windows', () => {
    const text = withWaivers(OTHER.replaceAll('\n', '\r\n'), [ENTRY])
    expect(text).toBe(`${OTHER}${BLOCK}`.replaceAll('\n', '\r\n'))
  })

  test('several at once, and an object without a namespace', () => {
    const more = { ...ENTRY, kind: 'Namespace', namespace: '', name: 'yes' }
    expect(readFleetText(withWaivers(OTHER, [ENTRY, more])).waivers).toMatchObject([
      { rule: 'sa-required' },
      { name: 'web' },
      { kind: 'Namespace', namespace: '', name: 'yes', approver: undefined },
    ])
  })

  test.each([
    ['brackets', 'waivers: [{rule: a-b, object: {kind: A, name: b}, reason: r, approver: a, expires: 2026-12-31}]\n'],
    ['braces', '{profile: baseline}\n'],
    ['what cannot be read', 'waivers: nobody\n'],
    ['no YAML', 'a: [\n'],
    ['two documents', 'profile: baseline\n---\nprofile: baseline\n'],
    [
      'a list of lines',
      `${OTHER}${BLOCK}`.replace(/violations: .*/, `violations:\n    - fingerprint: ${'b'.repeat(32)}`),
    ],
  ])('is refused in %s', (_what, text) => {
    expect(() => withWaivers(text, [ENTRY])).toThrow(BailiwickError)
  })
})

describe('a waiver that is there', () => {
  const there = `${OTHER}${BLOCK.replace('    reason', '    # because\n    reason')}`

  test('takes the new terms where it stands, and loses the approval of the old ones', () => {
    const approved = withWaivers(there, [{ ...ENTRY, approver: 'max' }])
    expect(approved).toBe(`${there}    approver: max\n`)
    const again = withWaivers(approved, [{ ...ENTRY, reason: 'Later.', expires: '2027-01-15' }])
    const other = { fingerprint: 'b'.repeat(32), severity: 'low' as const, field: undefined }
    expect(withWaivers(approved, [{ ...ENTRY, approver: 'max', violations: [other] }])).toBe(
      approved.replace(/violations: .*/, `violations: [{fingerprint: "${'b'.repeat(32)}", severity: low}]`),
    )
    expect(again).toBe(
      there.replace('"It moves."', 'Later.').replace('    expires: "2026-12-31"', '    expires: "2027-01-15"'),
    )
    expect(withWaivers(again, [{ ...ENTRY, reason: 'Later.', expires: '2027-01-15' }])).toBe(again)
  })

  test('that was written by hand takes them too', () => {
    const subject = { rule: 'sa-required', kind: 'Kustomization', namespace: 'apps', name: 'web' }
    const file = OTHER.replace('    reason: r', '    cluster: staging\n    reason: r')
    const text = withWaivers(file, [{ ...ENTRY, ...subject, approver: 'max' }])
    expect(text).toContain('expires: "2026-12-31"   # the end\n')
    expect(text).toContain('approver: max\n')
    expect(readFleetText(text).waivers).toMatchObject([{ requester: 'dora', approver: 'max' }])
  })
})

test('whatever the texts are, the reader reads back what was written, and every line that was there', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', ' ', '"', "'", '#', ':', '\\', '{', '-', 'é', '`', '\u{1f600}'),
    maxLength: 12,
  })
  const reason = word.map(text => `x${text}y`)
  const login = fc.constantFrom('dora', 'max-power', '1e3', 'null', 'yes')
  const name = fc.constantFrom('web', '1', 'null', 'system:x', 'a.b', '~', 'y')
  const entry = fc.record({ reason, requester: login, name }).map((some): WaiverEntry => ({ ...ENTRY, ...some }))
  fc.assert(
    fc.property(
      fc.constantFrom('', OTHER, `${OTHER}# end\nprofile: baseline\n`),
      fc.array(entry, { maxLength: 4 }),
      (file, entries) => {
        const unique = [...new Map(entries.map(one => [subjectKey(one), one])).values()]
        const text = withWaivers(file, unique)
        const { error, waivers } = readFleetText(text)
        expect(error).toBeUndefined()
        for (const one of unique) {
          expect(waivers.find(other => subjectKey(other) === subjectKey(one))).toMatchObject({ ...one })
        }
        const lines = text.split('\n')
        for (const line of file.split('\n')) expect(lines).toContain(line)
      },
    ),
    { numRuns: 300 },
  )
})
