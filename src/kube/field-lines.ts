import { createHash } from 'node:crypto'
import type { Origin, SourceLine } from '../base/origin.ts'
import { at, canonical, type Json, type MapNode, type Node, type Path, stringAt } from './node.ts'

/**
 * The lines that wrote the values of one object, without the values: the files, and a step for each value in the order of
 * the canonical text. A step is how many lines it is away from the one before, in base 36; `@<file>:` before it: in another file.
 */
export interface FieldLines {
  readonly files: readonly Pick<SourceLine, 'repository' | 'file'>[]
  readonly steps: string
}

/** The lines of an object, a few characters for each value. lineOfField reads them. */
export function fieldLines(root: MapNode): FieldLines {
  const files: Pick<SourceLine, 'repository' | 'file'>[] = []
  const steps: string[] = []
  const known = new Map<string, Map<string, number>>()
  let at = { file: -1, line: 0 }
  const indexOf = ({ repository, file }: Origin): number => {
    const here = known.get(repository) ?? new Map<string, number>()
    known.set(repository, here)
    const index = here.get(file) ?? files.push({ repository, file }) - 1
    here.set(file, index)
    return index
  }
  const note = (origin: Origin) => {
    const { line } = origin
    const index = indexOf(origin)
    const step = (line - at.line).toString(36)
    steps.push(index === at.file ? step : `@${index}:${step}`)
    at = { file: index, line }
  }
  const visit = (node: Node) => {
    if (node.type === 'list') {
      for (const item of node.items) {
        note(item.origin)
        visit(item)
      }
    } else if (node.type === 'map') {
      for (const name of [...node.fields.keys()].sort()) {
        const { key, value } = node.fields.get(name)!
        // a value of several lines begins at its key
        note(value.type === 'scalar' || key.file !== value.origin.file ? value.origin : key)
        visit(value)
      }
    }
  }
  visit(root)
  return { files, steps: steps.join(',') }
}

/**
 * The line of a field that the API server names, such as `spec.containers[0].image`. `text`: the canonical text of the
 * object. Of a field that the object does not have, the line of the nearest part above it; undefined where that is the object itself.
 */
export function lineOfField(text: string, { files, steps }: FieldLines, field: string): SourceLine | undefined {
  const object = JSON.parse(text) as Json
  const found = indexesOf(object, fieldPath(object, field))
  const last = found.at(-1)
  if (last === undefined) return undefined
  let file = -1
  let line = 0
  let place: SourceLine | undefined
  for (const [index, step] of steps.split(',').entries()) {
    const [, other, delta = ''] = /^(?:@(\d+):)?(-?[0-9a-z]+)$/.exec(step) ?? []
    if (other !== undefined) file = Number(other)
    line += Number.parseInt(delta, 36)
    const written = files[file]
    // what was generated is in no file: its parent is
    if (found.includes(index) && written && written.file !== '') place = { ...written, line }
    if (index === last) break
  }
  return place
}

/** The places of the values along a path in the order of the canonical text. */
function indexesOf(object: Json, path: readonly (string | number)[]): number[] {
  const found: number[] = []
  let index = 0
  const visit = (value: Json, depth: number | undefined) => {
    for (const [step, child] of childrenOf(value)) {
      const isOn = depth !== undefined && path[depth] === step
      if (isOn) found.push(index)
      index++
      visit(child, isOn ? depth + 1 : undefined)
    }
  }
  visit(object, 0)
  return found
}

function childrenOf(value: Json): (readonly [string | number, Json])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item as Json] as const)
  if (value === null || typeof value !== 'object') return []
  const map = value as { readonly [key: string]: Json }
  return Object.keys(map)
    .sort()
    .map(key => [key, map[key]!] as const)
}

/**
 * A field as the API server writes it, as the path in that object: as far as the object has it. Reads field paths
 * (apimachinery, util/validation/field: `spec.containers[0].image`, `metadata.labels[a/b]`) and those of managed fields
 * (structured-merge-diff: `.spec.containers[name="app"].image`). Names with dots are taken as the object has them.
 */
function fieldPath(object: Json, field: string): (string | number)[] {
  const path: (string | number)[] = []
  let here = object
  for (let rest = field; rest !== ''; ) {
    if (rest.startsWith('.')) rest = rest.slice(1)
    const step = rest.startsWith('[') ? bracket(here, rest) : name(here, rest)
    if (step === undefined) break
    path.push(step.key)
    here = (here as { readonly [key: string]: Json })[step.key]!
    rest = step.rest
  }
  return path
}

interface Step {
  readonly key: string | number
  readonly rest: string
}

/** The longest name that the map has. */
function name(here: Json, rest: string): Step | undefined {
  for (let end = rest.length; end > 0; end--) {
    if (end < rest.length && rest[end] !== '.' && rest[end] !== '[') continue
    const key = rest.slice(0, end)
    if (isMap(here) && Object.hasOwn(here, key)) return { key, rest: rest.slice(end) }
  }
  return undefined
}

function bracket(here: Json, rest: string): Step | undefined {
  for (let end = rest.indexOf(']'); end > 0; end = rest.indexOf(']', end + 1)) {
    const inner = rest.slice(1, end)
    const key = Array.isArray(here)
      ? itemOf(here, inner)
      : isMap(here) && Object.hasOwn(here, inner)
        ? inner
        : undefined
    if (key !== undefined) return { key, rest: rest.slice(end + 1) }
  }
  return undefined
}

const KEY = /^([\w.-]*)=(.*)$/s

/** `0`, `="value"`, or `name="app"`, and more keys behind commas. */
function itemOf(list: readonly Json[], inner: string): number | undefined {
  if (/^\d{1,9}$/.test(inner)) return Number(inner) < list.length ? Number(inner) : undefined
  const keys = inner.split(',').map(part => KEY.exec(part))
  const has = (item: Json, [, key = '', value = '']: RegExpExecArray) => {
    const found = key === '' ? item : isMap(item) && Object.hasOwn(item, key) ? item[key] : undefined
    return found !== undefined && JSON.stringify(found) === value
  }
  const index = list.findIndex(item => keys.every(key => key !== null && has(item, key)))
  return index < 0 ? undefined : index
}

function isMap(value: Json | undefined): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** JSON pointer (RFC 6901) of a path. */
export function pointer(path: Path): string {
  return path.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/**
 * The path as it stays when a list is reordered: an item of a list is named by what identifies it (kind, namespace,
 * name), or by the hash of its content, never by its place.
 */
export function stablePath(root: Node, path: Path): string {
  const steps = path.map((step, depth) => {
    if (typeof step !== 'number') return step
    const item = at(root, path.slice(0, depth + 1))
    if (!item) return '[]'
    const names = ['kind', 'namespace', 'name'].map(key => stringAt(item, [key]) ?? '')
    if (names[2]) return `[${names.join(',')}]`
    return `[#${createHash('sha256').update(canonical(item)).digest('hex').slice(0, 16)}]`
  })
  return pointer(steps)
}
