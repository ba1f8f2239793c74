import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fleet } from '../../../src/fleet/model/fleet.ts'
import { nodeOf } from '../../../src/fleet/model/kustomization-spec.ts'
import { canonical } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { changesText } from '../../../src/report/changes-text.ts'
import { commentOf } from '../../../src/report/comment.ts'
import type { ReportContext } from '../../../src/report/outcome.ts'
import { changesSection } from '../../../src/report/page/check-sections.ts'
import { LIMITS } from '../../../src/verdict/diff/changes.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { fleetOf } from '../../fleet/fleet-of.ts'
import { miniFleet } from '../../fleet/mini-fleet.ts'
import { FLEET, finding, HOSTILE, overLong, verdict } from '../../report/samples.ts'

const ORIGIN = { repository: FLEET, file: 'x.yaml', line: 1, column: 1, via: [] }
const EMPTY = fleetOf(miniFleet())

/** An object as it is rendered. */
const object = (value: object): KubeObject => ({
  root: nodeOf(value as never, ORIGIN) as KubeObject['root'],
  trail: [],
})
const configMap = (name: string, data: object) =>
  object({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'apps' }, data })

/** The fleet where dev-team's Kustomization, or as many copies of it as there are lists, renders these objects. */
function rendering(...lists: readonly (readonly KubeObject[])[]): Fleet {
  const dev = EMPTY.nodes.find(node => node.tenant === 'dev-team')!
  const copies = lists.map((objects, index) => {
    const name = index === 0 ? dev.name : `${dev.name}-${String(index).padStart(4, '0')}`
    const digest = objects.map(one => canonical(one.root)).join('\n')
    return { ...dev, key: `staging/apps/${name}`, name, objects, digest }
  })
  return { ...EMPTY, nodes: [...EMPTY.nodes.filter(node => node !== dev), ...copies] }
}

const context = (changes: ReportContext['changes'], page?: string): ReportContext => ({
  kind: 'pull-request',
  repository: FLEET,
  headSha: 'a'.repeat(40),
  ...(changes ? { changes } : {}),
  ...(page === undefined ? {} : { page }),
})

/** What must hold of any comment: its size, and that no fence or fold is left open. */
function expectSound(text: string): void {
  expect(text.length).toBeLessThanOrEqual(60_000)
  expect(text.match(/<details>/g)?.length ?? 0).toBe(text.split('\n').filter(line => line === '</details>').length)
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const found = /^(`{3,})(diff)?$/.exec(line)
    if (fence === undefined && found?.[2]) fence = found[1]
    else if (fence !== undefined && found?.[1] === fence && !found[2]) fence = undefined
    else if (fence !== undefined) expect(line).toMatch(/^(?:@@ .* @@|[-+! ] .*|)$/)
  }
  expect(fence).toBeUndefined()
}

const many = (count: number, of: (index: number) => KubeObject) =>
  Array.from({ length: count }, (_, index) => of(index))

describe('what is too large', () => {
  const fields = (value: string, count = 10_000) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, `${value}-${i}`]))

  test('an object with 10,000 fields is told in part, and counted', () => {
    const started = process.cpuUsage()
    const changes = changesOf(rendering([configMap('a', fields('x'))]), rendering([configMap('a', fields('y'))]))
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000)
    const [one] = changes.nodes[0]!.objects
    expect([one!.fields.length, one!.fieldCount, changes.left.fields]).toEqual([80, 10_000, 9920])
    const text = commentOf(verdict(), context(changes))!
    expectSound(text)
    expect(text).toContain('… and 9940 fields more')
    expect(text).toContain('Too much to list: 9920 fields more.')
  })

  test.each([
    [45, 'fields of added objects, and most fields of other objects, are omitted'],
    [300, 'fields are omitted, each object shows their number'],
    [1500, 'objects are omitted, each Kustomization shows their number'],
  ])('%i changed objects: %s', (count, note) => {
    const render = (value: string) =>
      many(count, index =>
        configMap(`settings-of-a-rather-long-name-${String(index).padStart(4, '0')}`, fields(value.repeat(20), 20)),
      )
    const changes = changesOf(rendering(render('a')), rendering(render('b')))
    expect(JSON.stringify(changes).length).toBeLessThan(LIMITS.bytes * 2)
    expect(changes.totals.changed).toBe(count)
    const text = commentOf(verdict(), context(changes, 'https://bailiwick.example/acme/fleet/1'))!
    expectSound(text)
    expect(text).toContain(
      `**Shortened:** ${note}. [The details page](https://bailiwick.example/acme/fleet/1) has all details.`,
    )
  })

  test('2,000 Kustomizations are counted, and what is deleted is told first', () => {
    const removed = configMap('gone', {})
    const render = (value: string, more: readonly KubeObject[]) =>
      many(2000, i => configMap(`a-${i}`, { value })).map(one => [one, ...more])
    const started = process.cpuUsage()
    const changes = changesOf(rendering(...render('1', [removed])), rendering(...render('2', [])))
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5000)
    expect(changes.totals).toMatchObject({ changed: 2000, removed: 2000, deleted: 2000 })
    expect([changes.nodes.length, changes.left.nodes]).toEqual([400, 1600])
    const text = commentOf(verdict(), context(changes))!
    expectSound(text)
    expect(text).toContain('⚠️ 2000 objects will be DELETED')
    expect(text).toMatch(/\*\*Left out for length:\*\*|Too much to list/)
  })

  test('findings and a diff share the room', () => {
    const changes = changesOf(rendering([configMap('a', fields('x'))]), rendering([configMap('a', fields('y'))]))
    const text = commentOf(overLong(), context(changes))!
    expectSound(text)
    expect(text).toContain('**Left out for length:**')
  })

  test('deep nesting is no trouble', () => {
    const deep = (value: string): object =>
      Array.from({ length: 400 }).reduce<object>(inner => ({ a: [inner] }), { value })
    const changes = changesOf(rendering([configMap('a', deep('x'))]), rendering([configMap('a', deep('y'))]))
    expect(changes.nodes[0]!.objects[0]!.fields).toMatchObject([{ change: 'changed', was: 'x', now: 'y' }])
    expectSound(commentOf(verdict(), context(changes))!)
  })

  test('lists of thousands of items are compared', () => {
    const list = (from: number) => ({ items: Array.from({ length: 5000 }, (_, index) => `item-${index + from}`) })
    const started = process.cpuUsage()
    const changes = changesOf(rendering([configMap('a', list(0))]), rendering([configMap('a', list(3000))]))
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000)
    expect(changes.totals.changed).toBe(1)
    expectSound(commentOf(verdict(), context(changes))!)
  })
})

describe('tenants and clusters that come', () => {
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}-${1000 + i}`)
  const [cluster] = EMPTY.clusters
  const [tenant] = EMPTY.tenants
  const withTenants = (
    all: readonly string[],
    clusters: readonly string[] = [],
    namespaces: readonly string[] = [],
  ) => ({
    ...EMPTY,
    tenants: [...EMPTY.tenants, ...all.map(name => ({ ...tenant!, name, clusters, namespaces }))],
  })
  const withClusters = (all: readonly string[]) => ({
    ...EMPTY,
    clusters: [...EMPTY.clusters, ...all.map(name => ({ ...cluster!, name }))],
  })
  const told = (head: Fleet) => {
    const changes = changesOf(EMPTY, head)
    const page = String(changesSection(changes))
    return { changes, text: changesText(changes), page }
  }

  test.each([
    [200, 0],
    [201, 1],
  ])('%i tenants: %i are only counted', (count, left) => {
    const { changes, text, page } = told(withTenants(names(count, 'team')))
    expect([changes.tenants.length, changes.left.tenants]).toEqual([200, left])
    expect(text).toContain(`- … and ${count - 60} more`)
    expect(text.includes('Too much to list: 1 new or removed tenant more.')).toBe(left === 1)
    expect(page.includes('1 tenant and 0 clusters more are new or removed.')).toBe(left === 1)
  })

  test.each([
    [100, 0],
    [101, 1],
  ])('%i clusters: %i are only counted', (count, left) => {
    const { changes, text, page } = told(withClusters(names(count, 'edge')))
    expect([changes.clusters.length, changes.left.clusters]).toEqual([100, left])
    expect(text).toContain(`- … and ${count - 60} more`)
    expect(text.includes('Too much to list: 1 new or removed cluster more.')).toBe(left === 1)
    expect(page.includes('0 tenants and 1 cluster more are new or removed.')).toBe(left === 1)
  })

  test.each([
    [50, 0],
    [51, 1],
  ])('a tenant in %i places: %i are only counted', (count, left) => {
    const { changes, text, page } = told(withTenants(['team'], names(count, 'edge'), names(count, 'space')))
    expect(changes.tenants).toMatchObject([{ left: { clusters: left, namespaces: left } }])
    expect(text).toContain(` and ${count - 10} more with \`space-1000\``)
    expect(text.includes('`space-1049` and 1 more')).toBe(left === 1)
    expect(page.includes('space-1049 and 1 more.')).toBe(left === 1)
    // the one that is not listed may be any other cluster
    const elsewhere = changesText(changes, { cluster: 'edge-1050' })
    expect(elsewhere.includes('The tenant `team` is added')).toBe(left === 1)
  })
})

describe('hostile text', () => {
  const TEXTS = [
    '```',
    '`````` diff',
    '</details>',
    '<!-- x -->',
    '@org/everyone',
    'fixes #1',
    '@@ approved @@',
    '\n# approved\n',
    '\u202e',
    '\r',
    '|',
    '[a](https://evil.example)',
    '![](https://evil.example/x.png)',
    HOSTILE,
    'x'.repeat(5000),
  ]
  const text = fc.array(fc.constantFrom(...TEXTS), { maxLength: 3 }).map(parts => parts.join(' '))
  const data = fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true })
  const named = fc.record({ kind: text, name: text, data })
  const objects = fc
    .array(named, { maxLength: 4 })
    .map(all =>
      all.map(({ kind, name, data: held }) =>
        object({ apiVersion: 'v1', kind, metadata: { name, namespace: 'apps' }, spec: held }),
      ),
    )

  test('stays inside of fences and code, whatever it is', () => {
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        const said = commentOf(
          verdict({ result: 'fail', violations: [finding()] }),
          context(changesOf(rendering(before), rendering(after))),
        )!
        expectSound(said)
        // outside of fences and code spans nothing of it is left
        const open = withoutCode(said)
        expect(open).not.toMatch(/@org|fixes #1|evil|approved|\u202e/)
      }),
      { numRuns: 150 },
    )
  })
})

/** A comment without fences, code spans and code elements. */
function withoutCode(text: string): string {
  return text
    .replace(/^(`{3,})diff\n[\s\S]*?^\1$/gm, '')
    .replace(/<code>[^<]*<\/code>/g, '')
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
}
