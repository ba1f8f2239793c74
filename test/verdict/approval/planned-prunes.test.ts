import { describe, expect, test } from 'vitest'
import { changePrunes, combinedPrunes, MAX_PRINTS, plannedPrunes } from '../../../src/verdict/change-prunes.ts'
import { massPrunes, prunePrints } from '../../../src/verdict/mass-prune.ts'
import { type Files, fleetOf, type Given } from '../../fleet/fleet-of.ts'
import { fleetFiles, miniFleet, withResource } from '../../fleet/mini-fleet.ts'

const limits = { share: 30, atLeast: 10 }
const DEV = fleetFiles['tenants/dev-team.yaml']!
const spec = (text: string): Files => ({ 'tenants/dev-team.yaml': `${DEV}${text}` })
const maps = (count: number, prefix = 'many', more = '') =>
  Array.from(
    { length: count },
    (_, at) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${prefix}-${at}\n  namespace: apps\n${more}`,
  ).join('')
const planned = (base: Given, head: Given) => plannedPrunes(fleetOf(base), fleetOf(head))
const held = (base: Given, head: Given) =>
  changePrunes(
    planned(base, head),
    fleetOf(head).nodes.map(({ key }) => key),
    limits,
  )
const many = miniFleet({ dev: withResource(maps(14)) })

describe('what a change would have deleted', () => {
  test('more than a share: by node, the names after the fifth counted', () => {
    const found = held(many, miniFleet({ dev: withResource(maps(2)) }))!
    expect(found.nodes).toHaveLength(1)
    expect(found.nodes[0]!.node).toMatch(/\/apps\/dev-team$/)
    expect(found.nodes[0]!.what).toMatch(
      /^it would delete 12 of \d+ objects \(12 ConfigMap\): ConfigMap apps\/many-10, .* and 7 more\. That is more than 30 %/,
    )
    expect(found.digest).toMatch(/^[0-9a-f]{32}$/)
    // another set is another digest, the same one is not
    expect(held(many, miniFleet({ dev: withResource(maps(3)) }))!.digest).not.toBe(found.digest)
    expect(held(many, miniFleet({ dev: withResource(maps(2, 'many', 'data: {a: b}\n')) }))!.digest).toBe(found.digest)
  })

  test.each<[string, Given, Given]>([
    ['a few', miniFleet({ dev: withResource(maps(9)) }), miniFleet()],
    ['content that changes', many, miniFleet({ dev: withResource(maps(14, 'many', 'data: {a: b}\n')) })],
    ['what is new', miniFleet(), many],
    [
      'prune: false',
      miniFleet({ dev: withResource(maps(14)) }),
      miniFleet({ fleet: { 'tenants/dev-team.yaml': DEV.replace('prune: true', 'prune: false') } }),
    ],
    [
      'what does not build afterwards',
      many,
      miniFleet({ dev: { 'deploy/kustomization.yaml': 'resources: [gone.yaml]\n' } }),
    ],
  ])('nothing is held for %s', (_what, base, head) => {
    expect(held(base, head)).toBeUndefined()
  })

  test('a Kustomization that is removed: all that it has, as its deletionPolicy says', () => {
    const without = miniFleet({
      fleet: { 'tenants/dev-team.yaml': DEV.replace(/---\napiVersion: kustomize\.toolkit[\s\S]*$/, '') },
    })
    const ofDev = (base: Given) => planned(base, without).filter(({ node }) => node.endsWith('/apps/dev-team'))
    expect(ofDev(many)).toMatchObject([{ gone: true }])
    expect(held(many, without)!.nodes[0]!.what).toContain('All Kustomizations of')
    const orphan = miniFleet({ fleet: spec('  deletionPolicy: Orphan\n'), dev: withResource(maps(14)) })
    expect(ofDev(orphan)).toMatchObject([{ gone: true, objects: [] }])
  })
})

describe('an approval before the merge', () => {
  const prune = (count: number, node = 'staging/apps/web', uid = 'u') => ({
    ...{ node, had: 20, gone: false },
    objects: Array.from({ length: count }, (_, at) => ({
      id: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: `o-${at}` },
      uid,
    })),
  })
  const waits = (one: ReturnType<typeof prune>, approved: readonly string[]) =>
    massPrunes([one], [], limits, new Set(approved)).size > 0

  test('counts for these objects and fewer, whatever their uids, and for nothing else', () => {
    const approved = prunePrints(prune(14, undefined, ''))
    expect(waits(prune(14), approved)).toBe(false)
    expect(waits(prune(12), approved)).toBe(false)
    expect(waits(prune(15), approved)).toBe(true)
    expect(waits(prune(14, 'staging/apps/other'), approved)).toBe(true)
    expect(waits(prune(14, 'production/apps/web'), approved)).toBe(true)
    const other = prune(14)
    const secrets = { ...other, objects: other.objects.map(one => ({ ...one, id: { ...one.id, kind: 'Secret' } })) }
    expect(waits(secrets, approved)).toBe(true)
  })

  test('of no object is one of that node: a tenant that vanishes is not approved by the approval of another', () => {
    const gone = { ...prune(0), gone: true }
    expect(waits(gone, [])).toBe(true)
    expect(waits(gone, prunePrints(prune(14, 'staging/apps/other')))).toBe(true)
    expect(waits(gone, prunePrints(gone))).toBe(false)
  })

  test('of several fleets has one digest, and what others read is only counted', () => {
    const plan = (cluster: string) => [{ ...prune(14, `${cluster}/apps/web`), cluster, source: `https://x/${cluster}` }]
    const [a, b] = ['a', 'b'].map(cluster => changePrunes(plan(cluster), [], limits, source => source.endsWith('/a'))!)
    expect(a).toMatchObject({ hidden: 0, nodes: [{ node: 'a/apps/web' }] })
    expect(b).toMatchObject({ hidden: 1, nodes: [] })
    const both = combinedPrunes([a!, b!])!
    expect(both).toMatchObject({ hidden: 1, nodes: [{ node: 'a/apps/web' }] })
    expect(new Set([a!.digest, b!.digest, both.digest]).size).toBe(3)
    expect(both.prints).toHaveLength(30)
    expect(combinedPrunes([a!])).toBe(a)
    expect(combinedPrunes([])).toBeUndefined()
  })

  test('fits into its record', () => {
    expect(MAX_PRINTS * 24).toBeLessThan(60_000)
  })
})

describe('an object that moves', () => {
  const declared = (path: string, more = '') =>
    `${DEV}${more}`
      .replace(/^[\s\S]*---\n(?=apiVersion: kustomize)/, '---\n')
      .replace('  name: dev-team\n  namespace: apps\n', '  name: second\n  namespace: apps\n')
      .replace('path: ./deploy', `path: ${path}`)
  const second = (count: number, more = ''): Given =>
    miniFleet({
      fleet: { 'tenants/dev-team.yaml': `${DEV}${declared('./second', more)}` },
      dev: { ...withResource(maps(2)), 'second/maps.yaml': maps(count).replace('---\n', '') },
    })

  test('to another Kustomization of the cluster is not deleted', () => {
    expect(held(many, miniFleet({ dev: withResource(maps(2)) }))).toBeDefined()
    expect(held(many, second(14))).toBeUndefined()
    expect(planned(many, second(14))).toEqual([])
  })

  test('is deleted where the other one declares less', () => {
    expect(held(many, second(4))!.nodes[0]!.what).toContain('it would delete 10 of')
  })

  test('stays where the other one is suspended', () => {
    expect(held(many, second(14, '  suspend: true\n'))).toBeUndefined()
  })

  test('with all that a removed Kustomization has: nothing of that is deleted', () => {
    const without = DEV.replace(/---\napiVersion: kustomize[\s\S]*$/, '')
    const fleet = (text: string) =>
      miniFleet({ fleet: { 'tenants/dev-team.yaml': `${without}${text}` }, dev: withResource(maps(14)) })
    const ofDev = (head: Given) => planned(many, head).filter(({ node }) => node.endsWith('/apps/dev-team'))
    expect(ofDev(fleet(''))).toHaveLength(1)
    expect(ofDev(fleet(declared('./deploy')))).toEqual([])
  })
})
