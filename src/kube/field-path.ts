import type { Json } from './node.ts'

/**
 * A field as the API server writes it, as the path in that object: as far as the object has it. Reads field paths
 * (apimachinery, util/validation/field: `spec.containers[0].image`, `metadata.labels[a/b]`) and those of managed fields
 * (structured-merge-diff: `.spec.containers[name="app"].image`). Names with dots are taken as the object has them.
 */
export function fieldPath(object: Json, field: string): (string | number)[] {
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
