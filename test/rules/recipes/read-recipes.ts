import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { World } from '../../attacks/worlds/index.ts'
import { directoryFiles } from '../../fleet/fleets/read-fleet.ts'

/** What is done to a field. */
const KINDS = ['left out', 'misspelled', 'widened', 'taken over', 'ordinary'] as const
type Kind = (typeof KINDS)[number]

/** A change of one file, `repository/path`: a text in it replaced or taken away, documents added to it, or the file deleted. */
export interface Edit {
  readonly in: string
  /** Where `from` is looked for: after this text. */
  readonly after?: string
  readonly from?: string
  /** Absent: the lines that hold `from` are taken away. */
  readonly to?: string
  readonly add?: string
  /** The content of the whole file; null deletes it. */
  readonly text?: string | null
}

/** One row of the table. */
export interface Recipe {
  readonly document: string
  readonly step: string
  readonly field: string
  readonly kind: Kind
  readonly what: string
  readonly edits: readonly Edit[]
  /** `level rule file:line` of everything that is new; empty: it passes. */
  readonly finds: readonly string[]
  /** What is nearest to it and is answered the other way. */
  readonly twin: string
}

export interface RecipeBook {
  readonly document: string
  readonly world: World
  readonly recipes: readonly Recipe[]
}

type Row = Partial<Record<Kind, string>> & Edit & { readonly and?: readonly Edit[]; readonly finds: string | string[] }
interface Book {
  readonly document: string
  readonly world: string
  /** What the document has besides its world. */
  readonly base?: readonly Edit[]
  readonly steps: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>>
}

const KEYS: readonly string[] = [...KINDS, 'in', 'after', 'from', 'to', 'add', 'text', 'and', 'finds']
const ADDRESSES: Readonly<Record<string, string>> = {
  fleet: 'https://github.com/acme/fleet',
  'dev-team': 'https://github.com/acme/dev-team',
  'ops-team': 'https://github.com/acme/ops-team',
  app1: 'https://github.com/acme/app1',
  oil: 'https://github.com/oil/oil-apps',
  'my-tenant': 'https://github.com/my-tenant/all',
}

/** Every document's rows; throws where a field has no row that is found, or none that passes. */
export function readRecipes(): RecipeBook[] {
  const files = readdirSync(import.meta.dirname).filter(name => name.endsWith('.yaml'))
  return files.map(name => {
    const book: Book = parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
    const recipes = Object.entries(book.steps).flatMap(([step, fields]) =>
      Object.entries(fields).flatMap(([field, rows]) => recipesOf(book.document, step, field, rows)),
    )
    return { document: book.document, world: edited(worldOf(book.world), book.base ?? []), recipes }
  })
}

function recipesOf(document: string, step: string, field: string, rows: readonly Row[]): Recipe[] {
  const isOrdinary = (row: Row) => row.ordinary !== undefined
  const describe = (row: Row | undefined) => {
    const kind = row && KINDS.find(one => row[one] !== undefined)
    if (!row || !kind || !row[kind]) throw new Error(`${document}, ${step}, ${field}: needs a row of each answer`)
    return { kind, what: row[kind] }
  }
  return rows.map(row => {
    const unknown = Object.keys(row).filter(key => !KEYS.includes(key))
    if (unknown.length > 0) throw new Error(`${document}, ${step}, ${field}: ${unknown.join(', ')} means nothing`)
    const { kind, what } = describe(row)
    const twin = describe(rows.find(other => isOrdinary(other) !== isOrdinary(row)))
    const path = row.in.slice(row.in.indexOf('/') + 1)
    const finds = [row.finds].flat().filter(find => find !== 'pass')
    return {
      ...{ document, step, field, kind, what, edits: [row, ...(row.and ?? [])] },
      finds: finds.map(find => find.replace(' @', ` ${path}:`)).sort(),
      twin: `${twin.kind}: ${twin.what}`,
    }
  })
}

/** A world with edits; throws where a text is not there. */
export function edited(world: World, edits: readonly Edit[]): World {
  const repositories = world.repositories.map(repository => {
    const files = new Map(Object.entries(repository.files))
    for (const edit of edits) {
      if (!edit.in.startsWith(`${repository.name}/`)) continue
      const path = edit.in.slice(repository.name.length + 1)
      const text = editedText(files.get(path), edit)
      if (text === null) files.delete(path)
      else files.set(path, text)
    }
    return { ...repository, files: Object.fromEntries(files) }
  })
  return { ...world, repositories }
}

function editedText(before: string | undefined, { in: file, after = '', from, to, add, text }: Edit): string | null {
  if (text !== undefined) return text
  if (before === undefined) throw new Error(`${file} does not exist`)
  const extra = add === undefined ? '' : `---\n${add}`
  if (from === undefined) return before + extra
  const anchor = before.indexOf(after)
  const at = anchor < 0 ? -1 : before.indexOf(from, anchor + after.length)
  if (at < 0) throw new Error(`${file} does not contain ${JSON.stringify(from)}`)
  const end = at + from.length
  if (to !== undefined) return before.slice(0, at) + to + before.slice(end) + extra
  return before.slice(0, before.lastIndexOf('\n', at) + 1) + before.slice(before.indexOf('\n', end) + 1) + extra
}

function worldOf(name: string): World {
  const directory = join(import.meta.dirname, 'fleets', name)
  const names = readdirSync(directory).sort((a, b) => Number(b === 'fleet') - Number(a === 'fleet'))
  const repositories = names.map(repository => ({
    name: repository,
    url: ADDRESSES[repository]!,
    branch: 'main',
    files: directoryFiles(join(directory, repository)),
  }))
  return { name, repositories }
}
