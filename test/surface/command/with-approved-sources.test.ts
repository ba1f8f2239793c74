import { expect, test } from 'vitest'
import { readFleetText } from '../../../src/fleet/config/fleet-file.ts'
import { withApprovedSources } from '../../../src/surface/command/fleet-file.ts'

const WEB = {
  tenant: 'dev-team',
  url: 'https://github.com/acme/web',
  ref: { branch: 'main' },
  account: 'system:serviceaccount:apps:dev-team',
}
const LINES = `  - tenant: dev-team
    url: "https://github.com/acme/web"
    ref: {branch: "main"}
    account: "system:serviceaccount:apps:dev-team"
`

test('a fleet without a file gets one', () => {
  expect(withApprovedSources(undefined, [WEB])).toBe(`approvedSources:\n${LINES}`)
})

test('an entry is appended, and every comment stays', () => {
  const before = `approvedSources: # by us\n${LINES.replace('web', 'api')}# the end\nprofile: baseline\n`
  const after = withApprovedSources(before, [WEB])
  expect(after).toBe(`approvedSources: # by us\n${LINES.replace('web', 'api')}${LINES}# the end\nprofile: baseline\n`)
  expect(readFleetText(after).approvedSources).toHaveLength(2)
})

test('one that is listed by another spelling of its address is not listed twice', () => {
  const before = `approvedSources:\n${LINES.replace('https://github.com/acme/web', 'git@github.com:acme/web.git')}`
  expect(withApprovedSources(before, [WEB])).toBe(before)
  expect(withApprovedSources(before, [{ ...WEB, account: 'system:serviceaccount:apps:other' }])).not.toBe(before)
})

test.each([
  ['an address between brackets', 'approvedSources: [{tenant: a, url: "https://github.com/a/b", account: x}]\n'],
  ['a file that cannot be read', 'approvedSources: yes\n'],
])('%s is left to people', (_, before) => {
  expect(() => withApprovedSources(before, [WEB])).toThrow(/\.github\/bailiwick\.yaml/)
})

test('what a tenant calls a tag stays text', () => {
  const use = { ...WEB, ref: { tag: "x: {a}, 'b'\"#" } }
  const [read] = readFleetText(withApprovedSources('', [use])).approvedSources
  expect(read?.ref).toEqual(use.ref)
})
