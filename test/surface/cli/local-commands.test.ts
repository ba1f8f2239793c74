import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FleetNode } from '../../../src/fleet/model/fleet.ts'
import { graphText } from '../../../src/report/formats/graph-text.ts'
import { git, repository, run, scratch } from './run-main.ts'
import { tenantOnBranch, world } from './situation.ts'

const ACME = join(import.meta.dirname, '../../fleet/fleets/acme')
const SYNC = 'tenants/base/dev-team/sync.yaml'

/** The acme fleet in a working copy, beside its tenants. */
function acmeFleet(): string {
  const root = scratch()
  cpSync(ACME, root, { recursive: true })
  return repository(join(root, 'fleet'), {}, 'https://github.com/acme/fleet')
}
const TENANT = ['--repo', 'https://github.com/acme/dev-team=../dev-team']
const readSync = (fleet: string) => readFileSync(join(fleet, SYNC), 'utf8')

describe('fix', () => {
  const FILE = 'base/deployment.yaml'
  const IMAGE = '          image: acme/storefront:1.4.0\n'
  const ARGS = ['--base', 'HEAD', '--fleet', '../fleet']

  /** A tenant's repository with a container that asks for privileges, beside its fleet. */
  function privileged(): string {
    const fleet = acmeFleet()
    const tenant = repository(join(fleet, '../dev-team'), {}, 'https://github.com/acme/dev-team')
    const text = readFileSync(join(tenant, FILE), 'utf8')
    const asking = `${IMAGE}          securityContext:\n            privileged: true # for now\n`
    writeFileSync(join(tenant, FILE), text.replace(IMAGE, asking))
    return tenant
  }

  test('shows the edit, and changes nothing', async () => {
    const tenant = privileged()
    const before = readFileSync(join(tenant, FILE), 'utf8')
    const { code, stdout } = await run(tenant, 'fix', ...ARGS)
    expect(code).toBe(1)
    expect(stdout).toContain(
      `${FILE}:21: pod-security\n-             privileged: true # for now\n+             privileged: false # for now\n`,
    )
    expect(stdout).toMatch(/^1 safe fix\. Run the command again with --apply to write the files\.\nfail: 1 violation/m)
    expect(readFileSync(join(tenant, FILE), 'utf8')).toBe(before)
  })

  test('--apply writes it, and says what the fleet is then', async () => {
    const tenant = privileged()
    const before = readFileSync(join(tenant, FILE), 'utf8')
    const { code, stdout } = await run(tenant, 'fix', '--apply', ...ARGS)
    expect(stdout).toMatch(/^1 safe fix applied\nPassed/m)
    expect(code).toBe(0)
    expect((await run(tenant, 'check', ...ARGS)).code).toBe(0)
    expect(readFileSync(join(tenant, FILE), 'utf8')).toBe(before.replace('privileged: true', 'privileged: false'))
    expect((await run(tenant, 'fix', '--apply', ...ARGS)).stdout).toMatch(/^0 safe fixes applied$/m)
  })

  test('leaves to people what is not certain', async () => {
    const tenant = tenantOnBranch({ 'deploy/config.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n' })
    const before = readFileSync(join(tenant, 'deploy/config.yaml'), 'utf8')
    const { code, stdout } = await run(tenant, 'fix', '--apply', '--fleet', '../fleet', '--base', 'main', '-o', 'json')
    expect([code, JSON.parse(stdout)]).toEqual([1, { applied: true, fixes: [], notWritten: [], result: 'fail' }])
    expect(readFileSync(join(tenant, 'deploy/config.yaml'), 'utf8')).toBe(before)
  })

  test.each([
    [
      ['--wait'],
      /^error\[usage\]: --wait is not an option of fix\. Allowed: --apply, --base, .* Run bailiwick help fix\.\n$/,
    ],
    [['-o', 'sarif'], /^error\[usage\]: -o "sarif" is not known\. Allowed: text, json\. Run bailiwick help fix\.\n$/],
  ])('%j is refused', async (args, message) => {
    expect((await run(world().fleet, 'fix', ...args)).stderr).toMatch(message)
  })
})

describe('diff', () => {
  test('what is not committed, with the fields', async () => {
    const fleet = acmeFleet()
    expect((await run(fleet, 'diff', ...TENANT)).stdout).toBe('changes: no rendered changes\n')
    writeFileSync(join(fleet, SYNC), readSync(fleet).replace('prune: true', 'prune: false'))
    const { code, stdout } = await run(fleet, 'diff', ...TENANT)
    expect(code).toBe(0)
    expect(stdout).toContain('~ Kustomization apps/dev-team\n')
    expect(stdout).toContain('-  spec.prune: true\n')
    expect(stdout).toContain('+  spec.prune: false\n')
    const { nodes } = JSON.parse((await run(fleet, 'diff', '-o', 'json', ...TENANT)).stdout)
    expect(nodes.map((node: { name: string }) => node.name)).toContain('tenants')
  })

  test('of a branch, and with an error where a side cannot be rendered', async () => {
    const fleet = acmeFleet()
    git(fleet, 'checkout', '--quiet', '-b', 'broken')
    writeFileSync(join(fleet, SYNC), 'kind: [')
    git(fleet, 'commit', '--quiet', '-am', 'break it')
    const { code, stderr, stdout } = await run(fleet, 'diff', '--base', 'main', ...TENANT)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error\[yaml-syntax\]: .*sync\.yaml/)
    expect(stdout).toMatch(/^changes: /)
  })
})

describe('graph', () => {
  test('mermaid: repositories, clusters, and who applies whom', async () => {
    const { code, stdout } = await run(acmeFleet(), 'graph', '--cluster', 'staging', ...TENANT)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^flowchart LR\n/)
    expect(stdout).toContain('s1[("github.com/acme/dev-team main")]')
    expect(stdout).toMatch(/n4\["apps\/dev-team<br>tenant dev-team<br>/)
    expect(stdout).toContain('  n3 ==> n4\n')
    expect(stdout).not.toContain('production')
  })

  /** As many Kustomizations below a root: an edge each from the source and from the root. */
  function wideFleet(count: number): string {
    const of = (kind: string, name: string, spec: object) => {
      const apiVersion = `${kind === 'GitRepository' ? 'source' : 'kustomize'}.toolkit.fluxcd.io/v1`
      return JSON.stringify({ apiVersion, kind, metadata: { name, namespace: 'flux-system' }, spec })
    }
    const url = 'https://github.com/acme/wide'
    const child = (path: string) => ({
      ...{ interval: '1m', prune: true, path },
      sourceRef: { kind: 'GitRepository', name: 'flux-system' },
    })
    const sync = [
      of('GitRepository', 'flux-system', { interval: '1m', url, ref: { branch: 'main' } }),
      of('Kustomization', 'flux-system', child('./clusters/c')),
    ]
    const many = Array.from({ length: count }, (_, index) => of('Kustomization', `k${index}`, child('./leaf')))
    const files = {
      'clusters/c/flux-system/gotk-sync.yaml': sync.join('\n---\n'),
      'clusters/c/many.yaml': many.join('\n---\n'),
      'leaf/kustomization.yaml': 'resources: []\n',
    }
    return repository(join(scratch(), 'wide'), files, url)
  }

  test.each([
    [249, 499, false],
    [250, 501, true],
  ])('of %s Kustomizations there are %s edges: is more than Mermaid draws: %s', async (count, edges, isMore) => {
    const fleet = wideFleet(count)
    const { stdout, stderr } = await run(fleet, 'graph')
    expect([stdout.match(/ (?:-->|==>) /g)?.length, stdout.length <= 50_000]).toEqual([edges, true])
    expect(stderr.includes('note: Mermaid draws no more than 50,000 characters and 500 edges')).toBe(isMore)
  })

  test('of one tenant: what leads to it stays', async () => {
    const { stdout } = await run(acmeFleet(), 'graph', '--tenant', 'dev-team', '--cluster', 'staging', ...TENANT)
    for (const name of ['flux-system/flux-system', 'flux-system/tenants', 'apps/dev-team'])
      expect(stdout).toContain(name)
    expect(stdout).not.toContain('sandbox-limits')
    expect((await run(acmeFleet(), 'graph', '--tenant', 'dev-taem')).stderr).toContain('Did you mean dev-team?')
  })

  test('no text of a repository ends a label', async () => {
    const { stdout } = await run(acmeFleet(), 'graph', ...TENANT)
    expect(stdout.split('\n').length).toBeGreaterThan(20)
    const hostile = 'a"]\nclick n0 "javascript:alert(1)"\\"; b -> c %%{init}%% <img src=x>\u001b[2J'
    const node = {
      key: 'x',
      cluster: hostile,
      namespace: hostile,
      name: hostile,
      tenant: hostile,
      identity: { user: hostile, impersonated: true },
      source: { id: hostile, url: hostile, ref: { branch: hostile }, commit: '' },
      objects: [],
      suspend: false,
    } as unknown as FleetNode
    const text = graphText([node])
    // as many lines as with a plain name: nothing began another
    const plain = graphText([{ ...node, name: 'x', namespace: 'x', cluster: 'x' } as FleetNode])
    expect(text.split('\n')).toHaveLength(plain.split('\n').length)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u001b]/)
    expect(text).not.toMatch(/<img|%%|javascript:|"\]\s*click/)
  })
})
