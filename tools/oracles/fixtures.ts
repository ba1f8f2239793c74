import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSnapshot, packSnapshot, type SnapshotFile, type Tree } from '../../src/git/tree.ts'
import type { Json } from '../../src/kube/node.ts'

/** Folder of the render cases: what is rendered, and in expected.json what the real programs made of it. */
export const FIXTURES = join(import.meta.dirname, '../../test/fixtures/render')

/** What a real program said: its objects, or that it failed. */
export type Expected = { readonly objects: Json[] } | { readonly fails: true }

export interface Fixture {
  readonly name: string
  readonly directory: string
  /** What is built: `overlay` where there is one. */
  readonly target: string
  /** The request for flux-render; absent for a plain build. */
  readonly flux?: {
    readonly kustomization: Json
    readonly ignore?: string
    /** What `substituteFrom` finds, and whether a variable that is not set is an error. */
    readonly objects?: Json[]
    readonly strict?: boolean
  }
  /** Why we refuse what the real program builds; absent where we must not. */
  readonly refused?: string
}

/** Every case, by name. */
export function fixtures(): Fixture[] {
  return readdirSync(FIXTURES).map(name => {
    const directory = join(FIXTURES, name)
    const flux = readJson(join(directory, 'flux.json'))
    const refused = join(directory, 'refused.txt')
    return {
      name,
      directory,
      target: existsSync(join(directory, 'overlay')) ? 'overlay' : '',
      ...(flux ? { flux: flux as NonNullable<Fixture['flux']> } : {}),
      ...(existsSync(refused) ? { refused: readFileSync(refused, 'utf8').trim() } : {}),
    }
  })
}

const OWN_FILES = ['expected.json', 'flux.json', 'refused.txt']

/** The input of a case, without what belongs to the test itself. */
export function inputOf(directory: string): SnapshotFile[] {
  const names = readdirSync(directory, { withFileTypes: true, recursive: true })
  return names
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(path => ({ path: path.slice(directory.length + 1), content: readFileSync(path) }))
    .filter(file => !OWN_FILES.includes(file.path))
}

export function treeOf(directory: string): Tree {
  return openSnapshot(packSnapshot(inputOf(directory)))
}

export function expectedOf(fixture: Fixture): Expected {
  const expected = readJson(join(fixture.directory, 'expected.json'))
  if (!expected) throw new Error(`${fixture.name} has no expected.json; run tools/oracles/remake-goldens.ts`)
  return expected as Expected
}

/** How a golden is written: one object a line. */
export const goldenText = (expected: Expected): string =>
  'objects' in expected
    ? `{"objects": [\n${expected.objects.map(one => JSON.stringify(one)).join(',\n')}\n]}\n`
    : `${JSON.stringify(expected)}\n`

function readJson(path: string): unknown {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/** JSON with sorted keys, and without the empty timestamp that Flux writes. */
export function comparable(value: Json): Json {
  if (Array.isArray(value)) return value.map(comparable)
  if (value === null || typeof value !== 'object') return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(
    keys.filter(key => key !== 'creationTimestamp' || value[key] !== null).map(key => [key, comparable(value[key]!)]),
  )
}
