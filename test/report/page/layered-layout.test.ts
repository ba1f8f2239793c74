import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layeredLayout } from '../../../src/report/page/layered-layout.ts'

const graph = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 6 }).chain(sizes => {
  const layers = sizes.map((size, layer) => Array.from({ length: size }, (_, at) => `${layer}.${at}`))
  const key = fc.constantFrom(...layers.flat(), 'unknown')
  return fc.array(fc.record({ from: key, to: key }), { maxLength: 30 }).map(edges => ({ layers, edges }))
})
const layerOf = (key: string) => Number(key.split('.')[0])

test('each node in its layer, no two at one place, and an edge passes every layer between its ends', () => {
  fc.assert(
    fc.property(graph, ({ layers, edges }) => {
      const { places, edges: drawn, rows } = layeredLayout(layers, edges)
      expect([...places.keys()].sort()).toEqual(layers.flat().sort())
      for (const [layer, keys] of layers.entries()) {
        const sorted = keys.map(key => places.get(key)?.row ?? Number.NaN).sort((a, b) => a - b)
        for (const [at, row] of sorted.entries()) {
          expect(row).toBeGreaterThanOrEqual(0)
          expect(row).toBeLessThan(rows)
          // rows are rounded to hundredths
          if (at > 0) expect(row - (sorted[at - 1] ?? 0)).toBeGreaterThan(0.98)
        }
        for (const key of keys) expect(places.get(key)?.layer).toBe(layer)
      }
      expect(drawn.map(({ edge }) => edge)).toEqual(edges.filter(({ from, to }) => layerOf(from) < layerOf(to)))
      for (const { edge, points } of drawn) {
        const [first, last] = [layerOf(edge.from), layerOf(edge.to)]
        expect(points.map(({ layer }) => layer)).toEqual(
          Array.from({ length: last - first + 1 }, (_, at) => first + at),
        )
        expect([points[0], points.at(-1)]).toEqual([places.get(edge.from), places.get(edge.to)])
      }
      expect(layeredLayout(layers, edges)).toEqual(layeredLayout(structuredClone(layers), structuredClone(edges)))
    }),
    { numRuns: 100 },
  )
})

test('the order within a layer follows what the edges lead to', () => {
  const layers = [
    ['a', 'b', 'c'],
    ['z', 'y', 'x'],
  ]
  const edges = [
    { from: 'a', to: 'x' },
    { from: 'b', to: 'y' },
    { from: 'c', to: 'z' },
  ]
  const { places } = layeredLayout(layers, edges)
  expect(['x', 'y', 'z'].map(key => places.get(key)?.row)).toEqual(['a', 'b', 'c'].map(key => places.get(key)?.row))
})

test('nothing gives nothing', () => {
  expect(layeredLayout([], [])).toEqual({ places: new Map(), edges: [], layers: 0, rows: 0 })
})
