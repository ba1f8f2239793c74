import { canonicalPlain, type Plain } from './read-output.ts'

/** What a program made of an input. `error` of ours starts with its code; `crash` is what is no answer at all. */
export type Result =
  | { readonly objects: readonly Plain[]; readonly files?: readonly string[] }
  | { readonly error: string; readonly files?: readonly string[] }
  | { readonly crash: string }

/** Ours beside the real program's, for one input. */
export type Outcome =
  | { readonly verdict: 'equal' }
  | { readonly verdict: 'both fail'; readonly why: string }
  /** We build nothing and say why; the real program builds. */
  | { readonly verdict: 'refused'; readonly why: string }
  | { readonly verdict: 'wrong'; readonly difference: string }

export function compare(ours: Result, real: Result): Outcome {
  if ('crash' in ours) return wrong(`ours ended without an answer: ${ours.crash}`)
  if ('crash' in real)
    return 'error' in ours ? { verdict: 'both fail', why: real.crash } : wrong('built, where the real program ended')
  // what cannot be packed is refused as a whole
  const unpacked = 'error' in ours && ours.files === undefined
  const files = unpacked ? undefined : filesDiffer(ours.files, real.files)
  if (files) return wrong(files)
  if ('error' in ours) {
    if (!/^[a-z]+(?:-[a-z]+)*: \S/.test(ours.error)) return wrong(`an error without its code: ${ours.error}`)
    return 'error' in real ? { verdict: 'both fail', why: real.error } : { verdict: 'refused', why: ours.error }
  }
  if ('error' in real) return wrong(`built, where the real program says: ${real.error.trim().slice(-600)}`)
  const difference = firstDifference(ours.objects, real.objects)
  return difference === undefined ? { verdict: 'equal' } : wrong(difference)
}

const wrong = (difference: string): Outcome => ({ verdict: 'wrong', difference })

function filesDiffer(ours: readonly string[] | undefined, real: readonly string[] | undefined): string | undefined {
  if (!real || !ours) return real || ours ? 'only one of both lists files' : undefined
  const [mine, theirs] = [[...ours].sort(), [...real].sort()]
  if (JSON.stringify(mine) === JSON.stringify(theirs)) return undefined
  const more = mine.filter(path => !theirs.includes(path))
  const less = theirs.filter(path => !mine.includes(path))
  return `files: ours only ${JSON.stringify(more)}, real only ${JSON.stringify(less)}`
}

/** Where two lists of objects first differ, and both values there; undefined where they are the same, order included. */
export function firstDifference(ours: readonly Plain[], real: readonly Plain[]): string | undefined {
  for (let index = 0; index < Math.max(ours.length, real.length); index++) {
    const [mine, theirs] = [ours[index], real[index]]
    if (mine === undefined || theirs === undefined) {
      return `object ${index}: ours ${title(mine)}, real ${title(theirs)} (${ours.length} and ${real.length} objects)`
    }
    if (canonicalPlain(mine) !== canonicalPlain(theirs))
      return `object ${index} ${title(theirs)} at ${deeper(mine, theirs)}`
  }
  return undefined
}

function deeper(ours: Plain | undefined, real: Plain | undefined): string {
  if (isParent(ours) && isParent(real) && Array.isArray(ours) === Array.isArray(real)) {
    const [mine, theirs] = [new Map(Object.entries(ours)), new Map(Object.entries(real))]
    for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
      if (shown(mine.get(key)) !== shown(theirs.get(key))) return `/${key}${deeper(mine.get(key), theirs.get(key))}`
    }
  }
  return `\n    ours ${shown(ours)}\n    real ${shown(real)}`
}

const isParent = (value: Plain | undefined): value is Plain[] | { readonly [key: string]: Plain } =>
  value !== null && typeof value === 'object'

const shown = (value: Plain | undefined): string => (value === undefined ? 'absent' : canonicalPlain(value))

function title(object: Plain | undefined): string {
  if (!isParent(object) || Array.isArray(object)) return object === undefined ? 'absent' : shown(object)
  const { kind, metadata } = object
  const { namespace, name } = isParent(metadata) && !Array.isArray(metadata) ? metadata : {}
  return [kind, namespace, name].filter(part => part !== undefined).join('/')
}

/** Groups refusals that differ only in names, numbers and places. */
export function shapeOf(error: string): string {
  return error
    .replace(/ \([^()]*:\d+\)(?: \[[^\]]*\])?$/, '')
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/\S*\/\S+|\S+\.(?:ya?ml|json)\b/g, '…')
    .replace(/\d+/g, 'N')
}
