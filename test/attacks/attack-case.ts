import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { openSnapshot, packSnapshot, type SnapshotFile, type Tree } from '../../src/git/tree.ts'
import { writeManifests } from './manifests.ts'
import { caseIds } from './shares.ts'
import { type Repository, type World, worlds } from './worlds/index.ts'

/** A file of a case: its text, null where it is taken away, or something that git knows besides. */
type CaseFile =
  | string
  | null
  | { readonly base64: string }
  | { readonly text: string; readonly times: number; readonly before?: string; readonly after?: string }
  | { readonly symlink: string }
  | { readonly submodule: string }
type CaseFiles = Readonly<Record<string, CaseFile>>
/** Files by repository: `fleet`, `dev`, `ops`, or another one of the world. */
type Changes = Readonly<Record<string, CaseFiles>>

/** What is new after the change: the ids of rules, each once, in any order. */
export interface Expectation {
  readonly violations?: readonly string[]
  readonly warnings?: readonly string[]
  /** Codes. */
  readonly errors?: readonly string[]
  /** `file:line` that must be among the places of what is new. */
  readonly at?: readonly string[]
  /** Texts that must stand in a message of what is new. */
  readonly says?: readonly string[]
  /** Files for which a fleet admin must approve the change; compared where it is given. */
  readonly approvals?: readonly string[]
}

export interface Variant {
  readonly change?: Changes
  /** A manifest that dev-team adds to what it deploys. */
  readonly resource?: string
  /** A manifest that the platform adds to the tenants' part of the fleet. */
  readonly platform?: string
  readonly expect?: Expectation
  /** Only a comparison with a base shows it; a branch by itself is clean. */
  readonly onlyAsChange?: boolean
  /** Of the branch by itself, where other rules speak there, too. */
  readonly alone?: Expectation
}

export interface AttackCase {
  readonly id: string
  readonly title: string
  readonly world: World
  readonly base: Changes
  /** What is found without the change already: it stands in every variant. */
  readonly stands: Expectation
  readonly expect: Expectation
  readonly variants: ReadonlyMap<string, Variant>
}

/** `change`: what every variant brings. */
const KEYS = ['title', 'world', 'base', 'stands', 'expect', 'change', 'variants']
const VARIANT_KEYS = ['resource', 'platform', 'expect', 'onlyAsChange', 'alone']

/** A part of a case as it is written. */
type Raw = Readonly<Record<string, unknown>>

/** Reads a case; throws for a key that means nothing, so that no expectation is overlooked. */
export function readCase(id: string): AttackCase {
  const raw = parse(readFileSync(join(import.meta.dirname, id, 'case.yaml'), 'utf8'), { merge: true })
  const { title, base = {}, stands = {}, expect = {}, change = {}, variants } = raw
  const unknown = Object.keys(raw).filter(key => !KEYS.includes(key))
  if (unknown.length > 0) throw new Error(`${id}: ${unknown.join(', ')} means nothing`)
  const world = worlds.get(raw.world ?? 'acme')
  if (!world) throw new Error(`${id}: there is no world ${raw.world}`)
  const read = Object.entries<Raw>(variants).map(
    ([name, variant]) => [name, readVariant(`${id} ${name}`, { ...change, ...variant }, world)] as const,
  )
  return { id, title, world, base: readChanges(id, base, world), stands, expect, variants: new Map(read) }
}

function readVariant(where: string, raw: Raw, world: World): Variant {
  const [own, files] = [true, false].map(isOwn =>
    Object.fromEntries(Object.entries(raw).filter(([key]) => VARIANT_KEYS.includes(key) === isOwn)),
  ) as [Variant, Raw]
  const texts = (['resource', 'platform'] as const).flatMap(key => (own[key] ? [[key, readFile(own[key])]] : []))
  return { ...own, ...Object.fromEntries(texts), change: readChanges(where, files, world) }
}

/** `dev/deploy/a.yaml` is that file of repository `dev`. */
function readChanges(where: string, files: Raw, { repositories }: World): Changes {
  const changes: Record<string, Record<string, CaseFile>> = {}
  for (const [key, file] of Object.entries(files)) {
    const [name = '', ...path] = key.split('/')
    if (path.length === 0 || !repositories.some(one => one.name === name))
      throw new Error(`${where}: ${key} means nothing`)
    changes[name] = { ...changes[name], [path.join('/')]: readFile(file) }
  }
  return changes
}

/** What git knows besides text. */
const SPECIAL = ['times', 'base64', 'symlink', 'submodule']

const readFile = (file: unknown): CaseFile =>
  file === null || typeof file !== 'object' || SPECIAL.some(key => key in file)
    ? (file as CaseFile)
    : writeManifests(file)

/** The files of a world's repositories with these changes on top. */
export function filesOf(world: World, ...changes: readonly Changes[]): Map<Repository, SnapshotFile[]> {
  return new Map(
    world.repositories.map(repository => {
      const files = new Map<string, CaseFile>(Object.entries(repository.files))
      for (const change of changes) {
        for (const [path, file] of Object.entries(change[repository.name] ?? {})) files.set(path, file)
      }
      return [repository, [...files].flatMap(([path, file]) => entry(path, file))]
    }),
  )
}

/** The same as trees. */
export function treesOf(world: World, ...changes: readonly Changes[]): Map<Repository, Tree> {
  const files = filesOf(world, ...changes)
  return new Map([...files].map(([repository, one]) => [repository, openSnapshot(packSnapshot(one))]))
}

function entry(path: string, file: CaseFile): SnapshotFile[] {
  if (file === null) return []
  if (typeof file === 'string') return [{ path, content: file }]
  if ('times' in file) {
    const { text, times, before = '', after = '' } = file
    return [{ path, content: `${before}${text.repeat(times)}${after}` }]
  }
  if ('base64' in file) return [{ path, content: Buffer.from(file.base64, 'base64') }]
  if ('symlink' in file) return [{ path, mode: '120000', content: file.symlink }]
  return [{ path, mode: '160000', content: '', id: file.submodule }]
}

/** What a variant changes, with its short forms written out. */
export function changesOf({ change = {}, resource, platform }: Variant): Changes {
  const dev = resource === undefined ? {} : extra('deploy', ['web.yaml'], resource)
  const fleet = platform === undefined ? {} : extra('tenants', ['dev-team.yaml', 'ops-team.yaml'], platform)
  return { ...change, dev: { ...dev, ...change.dev }, fleet: { ...fleet, ...change.fleet } }
}

/** Every case that there is. */
export const readCases = (): AttackCase[] => caseIds().map(readCase)

const extra = (directory: string, present: readonly string[], manifest: string): CaseFiles => ({
  [`${directory}/kustomization.yaml`]: `resources: [${[...present, 'extra.yaml'].join(', ')}]\n`,
  [`${directory}/extra.yaml`]: manifest,
})
