import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { BailiwickError } from '../../src/base/errors.ts'
import type { Node } from '../../src/kube/node.ts'
import { parseText } from '../../src/kube/yaml/parse-documents.ts'
import { toPlain } from '../../src/kustomize/resource/round-trip.ts'
import { Chance } from './generate/chance.ts'
import { mutate } from './generate/mutate.ts'
import { NoisyYaml } from './generate/noisy-yaml.ts'
import { canonicalPlain, type Plain, readJsonExactly } from './read-output.ts'

/** What go-yaml made of a text, see tools/oracles/go-yaml. */
interface Reading {
  readonly documents?: readonly Plain[]
  readonly error?: string
}

/** Ours beside the real one, for one text. */
interface YamlCounts {
  equal: number
  bothRefuse: number
  /** We refuse what kustomize reads. */
  refused: number
  /** The texts that are read otherwise than kustomize does, and how. */
  readonly wrong: { readonly text: string; readonly why: string }[]
}

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/render')
/** Longer texts say no more, and take longer. */
const MAX_LINES = 40
const BATCH = 2000

/** Holds `cases` texts against the program: generated ones, and damaged pieces of the fixtures. */
export function holdYaml(program: string, seed: number, cases: number): YamlCounts {
  const counts: YamlCounts = { equal: 0, bothRefuse: 0, refused: 0, wrong: [] }
  const pieces = globSync('**/*.yaml', { cwd: FIXTURES, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
    .map(path => readFileSync(path, 'utf8'))
  for (let done = 0; done < cases; done += BATCH) {
    const chances = fc.sample(fc.gen(), { seed: seed + done, numRuns: Math.min(BATCH, cases - done), unbiased: true })
    const texts = chances.map(g => makeText(new Chance(g), pieces))
    const answers = ask(program, texts)
    for (const [index, text] of texts.entries()) hold(text, answers[index]!, counts)
  }
  return counts
}

function makeText(chance: Chance, pieces: readonly string[]): string {
  if (chance.is(65)) {
    const text = new NoisyYaml(chance).text()
    return chance.is(15) ? damaged(text, chance) : text
  }
  const lines = chance.pick(pieces).split('\n')
  const from = chance.upTo(Math.max(0, lines.length - MAX_LINES))
  return damaged(lines.slice(from, from + MAX_LINES).join('\n'), chance)
}

const damaged = (text: string, chance: Chance): string => Buffer.from(mutate(text, chance)).toString()

function ask(program: string, texts: readonly string[]): { plain: Reading; kustomize: Reading }[] {
  const input = texts.map(text => `${JSON.stringify({ text })}\n`).join('')
  const run = spawnSync(program, [], { input, encoding: 'utf8', maxBuffer: 2 ** 30 })
  const lines = run.stdout.trimEnd().split('\n')
  if (run.status !== 0 || lines.length !== texts.length) throw new Error(`${program} failed: ${run.stderr}`)
  return lines.map(line => readJsonExactly(line) as unknown as { plain: Reading; kustomize: Reading })
}

function hold(text: string, { plain, kustomize }: { plain: Reading; kustomize: Reading }, counts: YamlCounts): void {
  const fails = plain.error ?? kustomize.error
  const ours = read(text)
  if (!ours) counts[fails === undefined ? 'refused' : 'bothRefuse']++
  else if (plain.error !== undefined) counts.wrong.push({ text, why: `go-yaml refuses it: ${plain.error}` })
  else {
    const why = difference(ours, plain) ?? differenceOfObjects(ours, kustomize)
    if (why === undefined) counts.equal++
    else if (why !== 'refused') counts.wrong.push({ text, why })
    else counts.refused++
  }
}

function read(text: string): readonly Node[] | undefined {
  return refusable(() => parseText(text, (line, column) => ({ repository: '', file: 'a', line, column })).documents)
}

/** kustomize reads back only what may be an object. */
function differenceOfObjects(nodes: readonly Node[], real: Reading): string | undefined {
  const written = refusable(() => nodes.map(node => (node.type === 'map' ? toPlain(node) : undefined)))
  if (!written) return 'refused'
  const objects = written.filter(node => node !== undefined)
  return objects.length === nodes.length ? difference(objects, real) : undefined
}

function refusable<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

function difference(nodes: readonly Node[], real: Reading): string | undefined {
  if (real.error !== undefined) return `kustomize refuses it: ${real.error}`
  const ours = nodes.map(node => canonicalPlain(plainOf(node))).join('\n')
  const theirs = (real.documents ?? []).map(canonicalPlain).join('\n')
  return ours === theirs ? undefined : `ours ${ours}\nreal ${theirs}`
}

function plainOf(node: Node): Plain {
  if (node.type === 'list') return node.items.map(plainOf)
  // a number beyond 64 bits is told by its shortest digits
  if (node.type === 'scalar') return typeof node.value === 'number' ? readJsonExactly(String(node.value)) : node.value
  const fields: { [key: string]: Plain } = Object.create(null)
  for (const [key, { value }] of node.fields) fields[key] = plainOf(value)
  return fields
}
