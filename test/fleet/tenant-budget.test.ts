import { expect, test } from 'vitest'
import { fleetOf } from './fleet-of.ts'
import { miniFleet, withResource } from './mini-fleet.ts'

const child = (index: number) =>
  `---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k${index}, namespace: apps}\nspec:\n  serviceAccountName: dev-team\n  sourceRef: {kind: GitRepository, name: dev-team}\n  path: ./many\n`
const map = (index: number) => `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c${index}, namespace: apps}\n`
const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join('')

test('many Kustomizations of a tenant run out of one budget, and of nobody else’s', () => {
  const dev = { ...withResource(many(30, child)), 'many/all.yaml': many(400, map) }
  const { nodes } = fleetOf(miniFleet({ dev }))
  const codes = nodes.filter(node => /^k\d+$/.test(node.name)).map(node => node.error?.code ?? 'rendered')
  expect(codes).toHaveLength(30)
  expect(codes[0]).toBe('rendered')
  expect(codes.at(-1)).toBe('render-limits')
  expect([...new Set(codes)]).toEqual(['rendered', 'render-limits'])
  expect(nodes.filter(node => node.tenant !== 'dev-team').map(node => node.error)).toEqual(
    nodes.filter(node => node.tenant !== 'dev-team').map(() => undefined),
  )
}, 60_000)

test('labels that are added one by one count what is there already', () => {
  const labels = (count: number) => many(count, index => `  - pairs: {l${index}: x}\n`)
  const dev = (count: number) => ({
    ...withResource(many(2_000, map)),
    'deploy/kustomization.yaml': `resources:\n  - web.yaml\n  - extra.yaml\nlabels:\n${labels(count)}`,
  })
  const errorOf = (count: number) =>
    fleetOf(miniFleet({ dev: dev(count) })).nodes.find(node => node.tenant === 'dev-team')?.error?.code
  expect([errorOf(10), errorOf(100)]).toEqual([undefined, 'render-limits'])
}, 60_000)
