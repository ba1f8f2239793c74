import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import type { Fleet, FleetNode } from '../../../src/fleet/model/fleet.ts'
import { toJson } from '../../../src/kube/node.ts'
import { idOf } from '../../../src/kube/object.ts'
import { comparable } from '../../../tools/oracles/fixtures.ts'
import { FLUX_RENDER, fluxRender } from '../../../tools/oracles/real-programs.ts'
import { firstWorld, inputOf, type World } from '../../verdict/evaluate/incremental/random-world.ts'
import { anyEdit, asClustersSeeIt, edited } from './hidden-edit.ts'

const WORLDS = Number(process.env.BAILIWICK_TRUTH_WORLDS ?? 4)

/** The folder of each repository of a world, by its address. */
function written(world: World): (url: string) => string {
  const root = mkdtempSync(join(tmpdir(), 'bailiwick-truth-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [name, files] of [['fleet', world.fleet] as const, ...world.tenants]) {
    for (const [path, text] of files) {
      const file = join(root, name, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }
  return url => join(root, url.slice(url.lastIndexOf('/') + 1))
}

/** What variables are taken from: objects that the cluster of a node has. */
function valuesFor({ nodes }: Fleet, node: FleetNode) {
  const objects = nodes.filter(({ cluster }) => cluster === (node.hub ?? node.cluster)).flatMap(one => one.objects)
  return objects.filter(object => ['ConfigMap', 'Secret'].includes(idOf(object).kind)).map(({ root }) => toJson(root))
}

test('what the property takes for the truth is what Flux renders', { timeout: 600_000 }, context => {
  const program = FLUX_RENDER ?? context.skip('no flux-render on this machine')
  const histories = fc.sample(fc.array(anyEdit(), { minLength: 1, maxLength: 4 }), { numRuns: WORLDS, seed: 20261122 })
  let compared = 0
  const asked = new Set<string>()
  for (const edits of histories) {
    const world = asClustersSeeIt(edits.reduce(edited, firstWorld()))
    const fleet = buildFleet(inputOf(world))
    const folderOf = written(world)
    for (const node of fleet.nodes) {
      // holes are held to Flux by tests of their own
      if (node.source.opaque !== undefined || node.holes || node.error || node.source.includes) continue
      const request = { kustomization: toJson(node.kustomization.root), objects: valuesFor(fleet, node) }
      const root = folderOf(node.source.url)
      const objects = node.objects.map(object => comparable(toJson(object.root)))
      const id = JSON.stringify([request, objects])
      if (asked.has(id)) continue
      asked.add(id)
      const answer = fluxRender(program, { root, ...request } as never)
      expect('objects' in answer ? answer.objects.map(comparable) : answer, node.key).toEqual(objects)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(10)
})
