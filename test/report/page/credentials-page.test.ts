import { expect, test } from 'vitest'
import { renderCredentialsPage } from '../../../src/report/page/credentials-page.ts'
import { sampleCredentials } from '../../surface/web/sample-pages.ts'

const ALL = { kind: '', search: '', page: 1 }

test('what has to be done comes first, with its line, and is text', () => {
  const page = renderCredentialsPage(sampleCredentials(), ALL)
  expect(page.indexOf('✗ Plain-text Secrets')).toBeLessThan(page.indexOf('✓ Deploy keys'))
  expect(page).toContain('Secret apps/&lt;b&gt;open&lt;/b&gt;')
  expect(page).toMatch(/href="https:\/\/github\.com\/acme\/fleet\/blob\/a{40}\/tenants\/open\.yaml#L3"/)
})

test('a thousand tenants are in parts, each of them small', () => {
  const shown = sampleCredentials(1_000)
  const rows = (page: string) => page.match(/<tr><td/g)?.length
  for (const page of [1, 2, 21])
    expect(Buffer.byteLength(renderCredentialsPage(shown, { ...ALL, page }))).toBeLessThan(100_000)
  expect(rows(renderCredentialsPage(shown, ALL))).toBe(100)
  expect(rows(renderCredentialsPage(shown, { ...ALL, page: 21 }))).toBe(1)
  expect(renderCredentialsPage(shown, { ...ALL, page: 21 })).toContain('Part 21 of 21')
})

test.each([Number.NaN, -1, 0, 1.5, 1e300])('part %s is one that is there', page => {
  expect(renderCredentialsPage(sampleCredentials(1_000), { ...ALL, page })).toMatch(/Part (?:1|21) of 21/)
})

test('a kind and a text select rows, and stay selected on the next part', () => {
  const shown = sampleCredentials(1_000)
  const some = renderCredentialsPage(shown, { kind: 'key', search: 'TENANT-99', page: 1 })
  expect(some.match(/<tr><td/g)).toHaveLength(11)
  expect(some).toContain('value="TENANT-99"')
  expect(renderCredentialsPage(shown, { kind: 'key', search: '', page: 1 })).toContain(
    '?kind=key&amp;search=&amp;page=2#list',
  )
  expect(renderCredentialsPage(shown, { ...ALL, search: '"><script>' })).not.toContain('<script>')
  expect(renderCredentialsPage(shown, { ...ALL, kind: 'none' })).toContain('Nothing is listed')
})
