import { expect, test } from 'vitest'
import {
  allowsSource,
  isDeclaredAccount,
  isGatedBranch,
  matchesSource,
} from '../../../src/fleet/config/declared-settings.ts'
import { readFleetFile } from '../../../src/fleet/config/fleet-file.ts'
import { DEFAULT_CONFIG, FLEET_FILE } from '../../../src/fleet/model/fleet-config.ts'
import { treeOf } from '../../base/git/tree-of.ts'

test.each([
  ['https://github.com/acme/*', 'https://github.com/acme/web'],
  ['https://github.com/acme/*', 'https://github.com/ACME/Web.git'],
  ['https://github.com/Acme/*', 'ssh://git@github.com/acme/web'],
  ['git@github.com:acme/*', 'https://github.com/acme/web/'],
  ['https://github.com/acme/*', 'git@github.com:acme/web.git'],
  ['https://github.com/acme/team-*', 'https://github.com/acme/team-a'],
  ['https://git.example.com:8443/acme/**', 'https://git.example.com:8443/acme/a/b/c'],
  ['https://github.com/acme/', 'https://github.com/acme/web'],
  ['https://github.com/acme/web', 'https://github.com/acme/web.git'],
  ['oci://ghcr.io/acme/**', 'oci://GHCR.io/acme/charts/web'],
])('%s allows %s', (pattern, url) => {
  expect(matchesSource(pattern, url)).toBe(true)
})

test.each([
  ['https://github.com/acme/*', 'https://github.com/acme-evil/web'],
  ['https://github.com/acme/*', 'https://github.com/acme/a/b'],
  ['https://github.com/acme/*', 'https://github.com/acme/'],
  ['https://github.com/acme/*', 'https://github.com/acme/../evil/web'],
  ['https://github.com/acme/*', 'https://github.com.evil.io/acme/web'],
  ['https://github.com/acme/*', 'https://github.com@evil.io/acme/web'],
  ['https://github.com/acme/*', 'https://evil.io/https://github.com/acme/web'],
  ['https://github.com/acme/*', 'https://github.com:8443/acme/web'],
  ['https://github.com/acme/*', 'https://github.com/acme/web?x=/acme/web'],
  ['https://github.com/acme/*', 'https://github.com/acme%2fevil/web'],
  ['https://github.com/acme/*', 'oci://github.com/acme/web'],
  ['https://github.com/acme/*', 'github.com/acme/web'],
  ['https://github.com/acme/*', ''],
  ['https://github.com/acme/web', 'https://github.com/acme/web-evil'],
  ['https://github.com/acme/**', 'https://github.com/acme'],
  ['https://git.example.com/Acme/*', 'https://git.example.com/acme/web'],
  ['oci://ghcr.io/acme/*', 'oci://ghcr.io/acme/a/b'],
  ['oci://ghcr.io/acme/*', 'https://ghcr.io/acme/a'],
])('%s does not allow %s', (pattern, url) => {
  expect(matchesSource(pattern, url)).toBe(false)
})

test('a pattern of many stars takes no longer than its text', () => {
  const start = performance.now()
  expect(matchesSource(`https://x.test/${'*a'.repeat(200)}b`, `https://x.test/${'a'.repeat(20_000)}`)).toBe(false)
  expect(performance.now() - start).toBeLessThan(20_000)
})

const config = readFleetFile(
  treeOf({
    [FLEET_FILE]: `allowedSources: [https://github.com/acme/*]
tenants: [{name: free, allowedSources: [https://github.com/free/*]}, {name: none, allowedSources: []}]
gatedBranches: [{url: git@github.com:Acme/web.git, branch: release}]
accounts: [{name: everywhere}, {name: one, namespace: apps, cluster: staging}]
`,
  }),
  '',
)

test('a tenant’s own list stands in place of the fleet’s, and what it asks of itself narrows both', () => {
  expect(config.error).toBeUndefined()
  expect(allowsSource(DEFAULT_CONFIG, 'dev', 'https://anywhere.test/a/b')).toBe(true)
  expect(allowsSource(config, 'dev', 'https://github.com/acme/a')).toBe(true)
  expect(allowsSource(config, 'dev', 'https://github.com/free/a')).toBe(false)
  expect(allowsSource(config, 'free', 'https://github.com/free/a')).toBe(true)
  expect(allowsSource(config, 'free', 'https://github.com/acme/a')).toBe(false)
  expect(allowsSource(config, 'none', 'https://github.com/acme/a')).toBe(false)
  const own = { severities: new Map(), allowedSources: [['https://github.com/free/x']], namedRules: [] }
  const free = config.tenants.get('free')!
  const narrowed = { ...config, tenants: new Map([['free', { ...free, own }]]) }
  expect(allowsSource(narrowed, 'free', 'https://github.com/free/x')).toBe(true)
  expect(allowsSource(narrowed, 'free', 'https://github.com/free/a')).toBe(false)
})

test('branches and accounts that the file names', () => {
  expect(isGatedBranch(config, 'https://github.com/acme/web', 'release')).toBe(true)
  expect(isGatedBranch(config, 'https://github.com/acme/web', 'Release')).toBe(false)
  expect(isGatedBranch(config, 'https://github.com/acme/other', 'release')).toBe(false)
  const is = (name: string, namespace: string, cluster: string, ofTenant: boolean) =>
    isDeclaredAccount(config, { name, namespace, cluster, ofTenant })
  expect(is('everywhere', 'apps', 'production', true)).toBe(true)
  expect(is('everywhere', 'kube-system', 'production', false)).toBe(false)
  expect([
    is('one', 'apps', 'staging', true),
    is('one', 'apps', 'production', true),
    is('one', 'ops', 'staging', true),
  ]).toEqual([true, false, false])
})
