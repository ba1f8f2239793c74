import { expect, test, vi } from 'vitest'
import { SourceIndex } from '../../src/fleet/sources/sources.ts'
import { fleetOf } from './fleet-of.ts'
import { DEV_URL, miniFleet } from './mini-fleet.ts'

const source = (i: number) =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: s${i}, namespace: apps}\nspec: {interval: 5m, url: ${DEV_URL}, ref: {branch: main}}\n`
const kustomization = (i: number) =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k${i}, namespace: apps}\nspec: {interval: 5m, prune: true, serviceAccountName: dev-team, path: ./part-${i}, sourceRef: {kind: GitRepository, name: s${i}}}\n`

/** Kustomizations of which each renders the source of the one before it, so that all but the last wait. */
function chain(count: number): Record<string, string> {
  const numbers = Array.from({ length: count }, (_, i) => i)
  const all = [...numbers.map(kustomization), source(count - 1)].join('---\n')
  const parts = numbers.map(i => [`part-${i}/x.yaml`, i === 0 ? '' : source(i - 1)])
  return {
    'deploy/kustomization.yaml': 'resources: [all.yaml]\n',
    'deploy/all.yaml': all,
    ...Object.fromEntries(parts),
  }
}

/** Nodes of a chain, and how often a source was looked for. */
function walked(count: number): { nodes: string[]; looks: number } {
  const find = vi.spyOn(SourceIndex.prototype, 'find')
  try {
    const fleet = fleetOf(miniFleet({ dev: chain(count) }))
    const nodes = fleet.nodes.filter(({ name, error }) => /^k\d/.test(name) && !error).map(({ name }) => name)
    return { nodes, looks: find.mock.calls.length }
  } finally {
    find.mockRestore()
  }
}

test('a Kustomization that waits is opened again for its own source only', () => {
  const [few, many] = [walked(20), walked(80)]
  expect(many.nodes).toEqual(Array.from({ length: 80 }, (_, i) => `k${79 - i}`))
  // four times as many: opening all whenever a source appears would be sixteen times the work
  expect(many.looks / few.looks).toBeLessThan(5)
})
