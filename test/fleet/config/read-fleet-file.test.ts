import { expect, test } from 'vitest'
import { readFleetFile, readTenantFile } from '../../../src/fleet/config/fleet-file.ts'
import { DEFAULT_CONFIG, FLEET_FILE } from '../../../src/fleet/model/fleet-config.ts'
import { treeOf } from '../../base/git/tree-of.ts'

const FLEET = 'https://github.com/acme/fleet'
const read = (text: string) => readFleetFile(treeOf({ [FLEET_FILE]: text }), FLEET)
const refusal = (text: string) => {
  const { error, ...rest } = read(text)
  expect(rest, 'a file that is refused says nothing').toEqual(DEFAULT_CONFIG)
  return `${error?.origin?.file}:${error?.origin?.line}: ${error?.message}; ${error?.fix}`
}

const WAIVER =
  '{rule: sa-required, object: {kind: Kustomization, namespace: apps, name: web}, reason: r, approver: a, expires: 2026-12-31}'

test('no file, an empty one and one of comments say nothing', () => {
  expect(readFleetFile(treeOf({}), FLEET)).toEqual(DEFAULT_CONFIG)
  expect(read('')).toEqual(DEFAULT_CONFIG)
  expect(read('# nothing yet\n')).toEqual(DEFAULT_CONFIG)
})

test('every key is read', () => {
  const config = read(`
profile: baseline
enforcement: report
allowedSources: [https://github.com/acme/*]
opaqueSources: forbid
gatedBranches: [{url: git@github.com:Acme/Web.git, branch: release/1.x}]
allowedKubeConfigs: [capsule-kubeconfig]
minimumInterval: 1m30s
severities: {sa-required: low, pod-security: 'off'}
waivers:
  - {rule: sa-required, object: {kind: rbac.authorization.k8s.io/ClusterRole, name: "system:x"}, cluster: staging, reason: r, approver: a, expires: 2026-12-31}
  - ${WAIVER}
accounts: [{name: default}, {name: robot, namespace: apps, cluster: staging}]
aliases: [{url: git@github.com:Acme/Web.git, addresses: ["ssh://git@git.test:2222/web", git@work:acme/web]}]
sources: [{kind: GitRepository, namespace: apps, name: web, url: https://github.com/acme/web, ref: {tag: v1}, clusters: [staging]}]
tenants:
  - name: dev-team
    namespaces: [extra]
    clusters: [staging]
    allowedSources: [https://github.com/acme/dev-*]
    enforcement: block
    profile: restricted
    repositories: [{url: https://github.com/acme/web, id: 42}]
  - name: ops
`)
  expect(config.error).toBeUndefined()
  expect(config).toMatchObject({
    profile: 'baseline',
    enforcement: 'report',
    allowedSources: ['https://github.com/acme/*'],
    forbidOpaqueSources: true,
    gatedBranches: [{ url: 'https://github.com/acme/web', branch: 'release/1.x' }],
    allowedKubeConfigs: ['capsule-kubeconfig'],
    minimumInterval: 90,
    waivers: [
      { kind: 'rbac.authorization.k8s.io/ClusterRole', namespace: '', name: 'system:x', cluster: 'staging' },
      { kind: 'Kustomization', namespace: 'apps', cluster: undefined, expires: '2026-12-31', origin: { line: 12 } },
    ],
    accounts: [{ name: 'default', namespace: undefined }, { namespace: 'apps' }],
  })
  expect([...config.aliases]).toEqual([
    ['https://git.test:2222/web', 'https://github.com/acme/web'],
    ['https://work/acme/web', 'https://github.com/acme/web'],
  ])
  expect(config.sources).toMatchObject([
    { kind: 'GitRepository', namespace: 'apps', name: 'web', ref: { tag: 'v1' }, clusters: ['staging'] },
  ])
  expect([...config.severities]).toEqual([
    ['sa-required', 'low'],
    ['pod-security', 'off'],
  ])
  expect(config.tenants.get('dev-team')).toMatchObject({ namespaces: ['extra'], clusters: ['staging'] })
  expect(config.tenants.get('dev-team')?.repositories.get('https://github.com/acme/web')).toBe(42)
  expect(config.tenants.get('ops')).toMatchObject({ clusters: undefined, enforcement: undefined, own: undefined })
  expect(config.namedRules.map(({ id, key, origin }) => `${id} ${key} ${origin.line}`)).toEqual([
    'sa-required severities.sa-required 9',
    'pod-security severities.pod-security 9',
    'sa-required waivers[0].rule 11',
    'sa-required waivers[1].rule 12',
  ])
})

test.each([
  ['profile: lax\n', ':1: .github/bailiwick.yaml: profile is "lax". Allowed: restricted or baseline; Write restricted'],
  ['\nprofil: baseline\n', ':2: .github/bailiwick.yaml: "profil" is an unknown key. Allowed: profile, enforcement'],
  ['enforcement:\n', 'enforcement is empty. Allowed: block or report'],
  ['severities: {sa-required: fatal}\n', 'severities.sa-required is "fatal". Allowed: critical, high, medium, low'],
  ['severities: {SA_REQUIRED: low}\n', 'severities has the key "SA_REQUIRED". Allowed: the id of a rule'],
  [`waivers: [${WAIVER.replace('2026-12-31', '2026-02-30')}]\n`, 'waivers[0].expires is "2026-02-30". Allowed: a day'],
  [`waivers: [${WAIVER.replace(', reason: r', '')}]\n`, ':1: .github/bailiwick.yaml: waivers[0].reason is missing'],
  ['approvers: [ada lovelace]\n', 'approvers[0] is "ada lovelace". Allowed: a login or a team'],
  ['approvers: [acme/platform, "@ACME/Platform"]\n', 'approvers[1] is'],
  [`waivers: [${WAIVER.replace('reason: r', 'reason: " "')}]\n`, 'waivers[0].reason is " "'],
  [`waivers: [${WAIVER.replace('name: web', 'name: "*", x: 1')}]\n`, '"waivers[0].object.x" is an unknown key'],
  [`waivers: [${WAIVER}, ${WAIVER}]\n`, 'waivers[1] is a map. Allowed: an item that is not listed twice'],
  ['minimumInterval: 30\n', 'minimumInterval is 30. Allowed: a duration'],
  ['minimumInterval: 1s30m\n', 'minimumInterval is "1s30m"'],
  ['minimumInterval: 25h\n', 'at most a day'],
  ['allowedSources: ["*"]\n', 'allowedSources[0] is "*". Allowed: a pattern of addresses'],
  ['allowedSources: ["https://*.example.com/acme/*"]\n', 'allowedSources[0] is'],
  ['tenants: [{name: a}, {name: a}]\n', 'tenants[1] is a map. Allowed: an item that is not listed twice'],
  ['tenants: [{name: a, clusters: staging}]\n', 'tenants[0].clusters is "staging". Allowed: a list'],
  ['tenants: {a: {}}\n', 'tenants is a map. Allowed: a list'],
  ['tenants: [{name: a, repositories: [{url: https://x.test/a, id: 0.5}]}]\n', 'id is 0.5. Allowed: a whole number'],
  ['aliases: [{url: https://x.test/a}]\n', 'aliases[0].addresses is missing'],
  ['aliases: [{url: https://x.test/a, addresses: [x]}]\n', 'addresses[0] is "x". Allowed: the address of a repository'],
  ['aliases: [{url: https://x.test/a, addresses: [https://x.test/a.git]}]\n', 'is listed twice under aliases'],
  ['sources: [{kind: HelmRepository, namespace: a, name: b, url: https://x.test/a}]\n', 'kind is "HelmRepository"'],
  [
    'sources: [{kind: GitRepository, namespace: a, name: b, url: https://x.test/a, ref: {commit: abc}}]\n',
    'ref.commit',
  ],
  ['accounts: [robot]\n', 'accounts[0] is "robot". Allowed: a service account: a map with the keys name'],
  ['substituteFrom: [{kind: Secret, namespace: a, name: b}]\n', 'has neither values nor opaque'],
  ['substituteFrom: [{kind: Secret, namespace: a, name: b, values: {A: 1}}]\n', 'a value of substituteFrom[0].values'],
  ['- x\n', 'the file is a list. Allowed: the configuration of a fleet'],
  ['profile: baseline\n---\nprofile: baseline\n', 'more than one document'],
  ['__proto__: {}\n', '"__proto__" is an unknown key'],
  ['profile: baseline\nprofile: restricted\n', 'yaml'],
])('refuses %j', (text, said) => {
  expect(refusal(text).toLowerCase()).toContain(said.toLowerCase())
})

test('a file of almost the same name is an error, as it would count for nothing', () => {
  const { error } = readFleetFile(treeOf({ '.github/bailiwick.yml': 'profile: restricted\n' }), FLEET)
  expect(error?.message).toContain('.github/bailiwick.yml has no effect. Allowed: .github/bailiwick.yaml')
})

test('an unfit value is shown so that it can do nothing', () => {
  expect(refusal('profile: "a\\u202e\\nb"\n')).toContain('profile is "a\\u202e\\nb". Allowed')
})

test('a tenant’s own file can only be stricter', () => {
  const own = (text: string) => readTenantFile(treeOf({ [FLEET_FILE]: text }), 'https://github.com/acme/dev-team')
  expect(own('profile: restricted\nenforcement: block\nseverities: {pod-security: high}\n')).toMatchObject({
    restricted: true,
    blocks: true,
    namedRules: [{ id: 'pod-security', severity: 'high' }],
  })
  expect(readTenantFile(treeOf({}), '')).toBeUndefined()
  for (const loosening of [
    'profile: baseline',
    'enforcement: report',
    'severities: {pod-security: off}',
    'severities: {pod-security: warning}',
    `waivers: [${WAIVER}]`,
    'tenants: [{name: ops-team}]',
    'accounts: [{name: default}]',
    'gatedBranches: []',
  ]) {
    expect(own(`${loosening}\n`), loosening).toMatchObject({ code: 'config', origin: { line: 1 } })
  }
})
