import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import type { Fleet, FleetNode } from '../../../src/fleet/model/fleet.ts'
import { revisionSetOf } from '../../../src/fleet/model/input.ts'
import { canonical } from '../../../src/kube/node.ts'
import { formats } from '../../../src/report/formats/formats.ts'
import type { Changes } from '../../../src/verdict/diff/changes.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import { firstWorld, inputOf, type World } from '../../verdict/evaluate/incremental/random-world.ts'
import { anyEdit, asClustersSeeIt, edited, type HiddenEdit } from './hidden-edit.ts'

const numRuns = Number(process.env.BAILIWICK_SILENCE_RUNS ?? 60)

/** By what a result names a Kustomization. */
const CHANNELS = ['finding', 'change', 'not visible'] as const
type Channel = (typeof CHANNELS)[number]

const history = fc.record({
  before: fc.array(anyEdit(), { maxLength: 4 }),
  change: fc.array(anyEdit(), { minLength: 1, maxLength: 2 }),
})

/**
 * What Flux would apply for each Kustomization, and what holes hide of it. One that Flux refuses applies nothing new; where
 * nothing of it can be built, all that it would be built from is hidden.
 */
function appliedIn(fleet: Fleet): Map<string, string> {
  const textOf = ({ objects, error, inputs, holes = [] }: FleetNode) =>
    JSON.stringify([
      error ? [] : objects.map(({ root }) => canonical(root)),
      error && holes.length === 0 ? (inputs ?? error.message) : error !== undefined,
      holes.map(({ hides, remote }) => [hides, remote ?? '']),
    ])
  const nothing = textOf({ objects: [] } as unknown as FleetNode)
  const all = fleet.nodes.map(node => [`${node.cluster} ${node.key}`, textOf(node)] as const)
  return new Map(all.filter(([, text]) => text !== nothing))
}

/** The Kustomizations for which clusters would get something else, and by what the result names each. */
function changedNodes(base: World, head: World): { readonly node: string; readonly named: ReadonlySet<Channel> }[] {
  const truthOf = (world: World) => buildFleet(inputOf(asClustersSeeIt(world)))
  const truth = { was: truthOf(base), is: truthOf(head) }
  const [was, is] = [appliedIn(truth.was), appliedIn(truth.is)]
  const input = inputOf(head, base)
  const [before, after] = [buildFleet(inputOf(base)), buildFleet(input)]
  const { verdict } = evaluateFleet(after, { base: before, revisionSet: revisionSetOf(input) })
  // what the command line prints, as data and as text
  const context = { here: '', rules: [], version: '', changes: changesOf(before, after), verbose: true }
  const { changes } = JSON.parse(formats.get('json')!(verdict, context)) as { changes: Changes }
  const text = formats.get('text')!(verdict, context)
  for (const { namespace, name } of changes.nodes) expect(text).toContain(` Kustomization ${namespace}/${name} on `)
  for (const { name } of changes.clusters) expect(text).toContain(` cluster ${name}`)
  const found = [...verdict.violations, ...verdict.warnings, ...verdict.errors].filter(
    ({ state }) => state !== 'standing',
  )
  const foundAt = new Set(found.map(({ node }) => node))
  const changedAt = new Set(changes.nodes.flatMap(({ cluster, node }) => [node, `${cluster} ${node}`]))
  const clusters = new Set(changes.clusters.map(({ name }) => name))
  const listed = new Set(verdict.notSeen.map(({ source }) => source))
  const approved = verdict.requiredApprovals.length > 0
  const parents = new Map([...truth.was.nodes, ...truth.is.nodes].map(({ key, parent }) => [key, parent]))
  /** The node itself; where a side does not show it, the nearest one above it that it shows. */
  const shownIn = (fleet: Fleet, key: string): FleetNode | undefined => {
    for (let here: string | undefined = key; here !== undefined; here = parents.get(here)) {
      const node = fleet.nodes.find(one => one.key === here)
      if (node) return node
    }
    return undefined
  }
  const namedBy = (cluster: string, key: string): ReadonlySet<Channel> => {
    const named = new Set<Channel>()
    const hub = key.slice(0, key.indexOf('/'))
    if (foundAt.has('')) named.add('finding')
    if (clusters.has(hub)) named.add('change')
    if (verdict.notReached.some(one => one.id === key.slice(hub.length + 1))) named.add('not visible')
    for (const fleet of [after, before]) {
      const here = shownIn(fleet, key)
      if (!here) continue
      if (foundAt.has(here.key)) named.add('finding')
      if (changedAt.has(here.key === key ? `${cluster} ${key}` : here.key)) named.add('change')
      if (fleet === after && here.source.opaque !== undefined && listed.has(here.source.id)) named.add('not visible')
      if (approved && here.holes?.some(({ remote }) => remote !== undefined)) named.add('not visible')
    }
    return named
  }
  const keys = [...new Set([...was.keys(), ...is.keys()])].filter(key => was.get(key) !== is.get(key))
  return keys.map(key => {
    const end = key.lastIndexOf(' ')
    return { node: key, named: namedBy(key.slice(0, end), key.slice(end + 1)) }
  })
}

const hidden = (name: HiddenEdit['name'], dice: number): HiddenEdit => ({ name, cluster: 0, dice })

/** Changes that were silent once: beside a hole, behind one, to another cluster, of a source that nobody declares. */
const examples = [
  { before: [hidden('remote', 0)], change: [hidden('beside', 1)] },
  { before: [hidden('remote', 0)], change: [hidden('remote', 1)] },
  { before: [hidden('unreadable', 1)], change: [hidden('unreadable', 2)] },
  { before: [], change: [hidden('hub', 1)] },
  { before: [hidden('hub', 1)], change: [hidden('hub', 3)] },
  { before: [hidden('byHand', 1)], change: [hidden('beside', 1)] },
  { before: [hidden('mirror', 1)], change: [hidden('beside', 1)] },
]

test('whatever a change alters on a cluster is found, shown, or listed as not visible', { timeout: 600_000 }, () => {
  const seen = new Map<Channel | 'alone', number>()
  const silentWithout = new Map<Channel, number>()
  fc.assert(
    fc.property(history, ({ before, change }) => {
      const base = before.reduce(edited, firstWorld())
      const changed = changedNodes(base, change.reduce(edited, base))
      expect(changed.filter(({ named }) => named.size === 0).map(({ node }) => node)).toEqual([])
      for (const { named } of changed) {
        for (const channel of named) seen.set(channel, (seen.get(channel) ?? 0) + 1)
        const [only] = named
        if (named.size === 1) silentWithout.set(only!, (silentWithout.get(only!) ?? 0) + 1)
      }
    }),
    { seed: 20261122, numRuns, examples: examples.map(one => [one] as [typeof one]) },
  )
  // each way is taken, and without any one of them something would be silent: so the test can fail
  for (const channel of CHANNELS) expect([channel, (silentWithout.get(channel) ?? 0) > 0]).toEqual([channel, true])
})
