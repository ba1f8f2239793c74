/** One part of a path of fields. */
interface FieldPart {
  readonly name: string
  /** Written with `[]`: what is there should be a list. */
  readonly isList: boolean
  /** Why no map has such a field. */
  readonly problem?: string
}

export type FieldPath = readonly FieldPart[]

const KNOWN = new WeakMap<object, FieldPath>()

/** The parts of the path of a spec; a spec is used for many objects, so they are kept. */
export function fieldPathOf(spec: { readonly path: string }): FieldPath {
  const known = KNOWN.get(spec)
  if (known) return known
  const parts = splitPath(spec.path).map(partOf)
  KNOWN.set(spec, parts)
  return parts
}

/** Some names are no fields for kyaml's path getter (kyaml/yaml/fns.go); with those it fails in a map. */
function partOf(text: string): FieldPart {
  const isList = text.endsWith('[]')
  const written = isList ? text.slice(0, -2) : text
  const name = written.trim()
  if (written === '') return { name, isList, problem: 'has an empty field name' }
  if (name === '') return { name, isList, problem: 'blank' }
  if (/^[-+]?\d+$|^[-*]$|^\[.*\]$/.test(name)) return { name, isList, problem: `${name} is not a field of a map` }
  return { name, isList }
}

/** The parts of a path: `/` separates, `\/` does not, and one at the start says nothing. */
function splitPath(path: string): string[] {
  const parts = path.split('/')
  if (parts.length > 1 && parts[0] === '') parts.shift()
  const result: string[] = [parts[0]!]
  for (const part of parts.slice(1)) {
    const last = result.at(-1)!
    if (last.endsWith('\\')) result[result.length - 1] = `${last.slice(0, -1)}/${part}`
    else result.push(part)
  }
  return result
}
