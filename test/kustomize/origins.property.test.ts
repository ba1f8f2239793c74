import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Origin } from '../../src/base/origin.ts'
import { at, type Node, originAt, type Path } from '../../src/kube/node.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { build } from '../../src/kustomize/pipeline/build.ts'
import { originsOf } from '../../src/surface/cli/render.ts'
import { treeOf } from '../base/git/tree-of.ts'
import { writeFleet } from './write-fleet.ts'
import { type ExpectedStep, SHAPE, type WrittenFleet } from './written-fleet.ts'

/** Steps that come after those of the writer: what carried the finished value on. */
const CARRIERS = ['replacement', 'reference', 'transformer']

class Check {
  readonly found = new Set<string>()
  private readonly fleet: WrittenFleet
  private readonly object: KubeObject

  constructor(fleet: WrittenFleet, object: KubeObject) {
    this.fleet = fleet
    this.object = object
  }

  all(): void {
    const [name] = wordsOf(
      String((at(this.object.root, ['metadata', 'name']) as { value: string }).value),
      this.fleet,
    ).filter(word => this.fleet.trails.has(word))
    if (name) expect(this.object.trail.map(shown)).toEqual(this.fleet.trails.get(name)!.map(step => this.place(step)))
    this.node(this.object.root, [])
  }

  private node(node: Node, path: Path): void {
    const pointed = originAt(this.object.root, path)
    expect(this.rest(pointed), `${path.join('/')} is nowhere`).toBeDefined()
    expect(this.rest(node.origin), `${path.join('/')} is nowhere`).toBeDefined()
    if (node.type === 'scalar') this.scalar(String(node.value), node.origin, path)
    else if (node.type === 'list') for (const [index, item] of node.items.entries()) this.node(item, [...path, index])
    else for (const [key, field] of node.fields) this.field(key, field.key, field.value, [...path, key])
  }

  /** A key that nobody wrote stands where its value does, or where the entry is that made it. */
  private field(key: string, origin: Origin, value: Node, path: Path): void {
    const rest = this.rest(origin)!
    const isWritten = rest.includes(key)
    const isMade =
      /\bw\d+x\b|^(?:name|path|target|literals|source|sourceValue|patch|count|- |[[{]|metadata|data)|^\d|^'|^v1/.test(
        rest,
      )
    expect(isWritten || isMade, `${path.join('/')}: ${origin.file}:${origin.line}:${origin.column} ${rest}`).toBe(true)
    this.node(value, path)
  }

  private scalar(value: string, origin: Origin, path: Path): void {
    const text = path[0] === 'data' && this.isSecret() ? Buffer.from(value, 'base64').toString() : value
    const words = wordsOf(text, this.fleet)
    const where = `${path.join('/')} = ${text} at ${origin.file}:${origin.line}:${origin.column}`
    const steps = (origin.via ?? []).map(shown)
    if (words.length === 0) {
      this.wordless(text, origin, where)
      return
    }
    const from = words.filter(word => this.isAt(word, origin))
    expect(from, `${where}: no word of it`).not.toEqual([])
    for (const word of from) this.found.add(word)
    const { file, via } = this.fleet.writers.get(from[0]!)!
    // a word that refers to an object stands in another file, too
    const expected = file === origin.file ? via.map(step => this.place(step)) : []
    expect(steps.slice(0, expected.length), where).toEqual(expected)
    for (const step of steps.slice(expected.length)) expect(CARRIERS, where).toContain(step.split(' ')[0])
  }

  private wordless(text: string, origin: Origin, where: string): void {
    const rest = this.rest(origin)!
    const isGenerated = this.object.trail[0]?.step === 'generator' && rest.startsWith('name:')
    const isJson = text === '{"k":{"v":"inside"}}' && rest.startsWith(`'{"k"`)
    expect(isGenerated || isJson || rest.replace(/^['"]/, '').startsWith(text), `${where}: ${rest}`).toBe(true)
  }

  /** Whether a word stands where an origin says: on that line, or in the block or file that begins there. */
  private isAt(word: string, origin: Origin): boolean {
    const rest = this.rest(origin)!
    const lines = this.fleet.files[origin.file]!.split('\n')
    return /^[|>]/.test(rest) ? lines.slice(origin.line).join('\n').includes(word) : rest.includes(word)
  }

  private rest(origin: Origin): string | undefined {
    const line = this.fleet.files[origin.file]?.split('\n')[origin.line - 1]
    return line !== undefined && origin.column >= 1 && origin.column <= line.length + 1
      ? line.slice(origin.column - 1)
      : undefined
  }

  private place({ step, file, marker }: ExpectedStep): string {
    const index = this.fleet.files[file]!.split('\n').findIndex(line => line.includes(marker))
    return `${step} ${file}:${index + 1}`
  }

  private isSecret(): boolean {
    return (at(this.object.root, ['kind']) as { value?: unknown }).value === 'Secret'
  }
}

const shown = ({ step, file, line }: { step: string; file: string; line: number }): string => `${step} ${file}:${line}`

function wordsOf(text: string, { writers }: WrittenFleet): string[] {
  return (text.match(/w\d+x/g) ?? []).filter(word => writers.has(word))
}

test('every value of every object points to where it was written, and names what it came through', () => {
  let objects = 0
  fc.assert(
    fc.property(SHAPE, shape => {
      const fleet = writeFleet(shape)
      const built = build(treeOf(fleet.files), '', 'overlay')
      const checks = built.map(object => new Check(fleet, object))
      for (const check of checks) check.all()
      const found = new Set(checks.flatMap(check => [...check.found]))
      expect([...fleet.seen].filter(word => !found.has(word) && !isShadowed(word, fleet))).toEqual([])
      objects += built.length
    }),
    { seed: 20_261_121, numRuns: 150 },
  )
  console.log(`origins: ${objects} objects of 150 generated overlays`)
})

/** The second of two words of a name is seen in the first one's place. */
function isShadowed(word: string, { trails }: WrittenFleet): boolean {
  return trails.has(word)
}

test('a replaced value ends in its replacement, every path has an answer', () => {
  const flags = Object.fromEntries(
    ['replacement', 'replacementFile', 'embedded', 'generator', 'prefix'].map(flag => [flag, true]),
  )
  const shape = { flags: flags as never, quotes: ['plain' as const], comments: [1] }
  const fleet = writeFleet(shape)
  const map = build(treeOf(fleet.files), '', 'overlay').find(object => at(object.root, ['data', 'copied']))!
  const last = (path: Path): string | undefined => originAt(map.root, path).via?.at(-1)?.step
  expect(last(['data', 'copied'])).toBe('replacement')
  expect(last(['data', 'json'])).toBe('replacement')
  expect(last(['volumes', 0, 'name'])).toBe('replacement')
  const { origins } = originsOf(map, file => file) as unknown as { origins: Record<string, unknown> }
  const asked = ['', '/data', '/data/none', '/volumes', '/volumes/0', '/volumes/0/configMap/name']
  expect(asked.filter(path => !Object.hasOwn(origins, path))).toEqual([])
})
