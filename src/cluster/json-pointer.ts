import type { Json } from '../kube/node.ts'

/** The steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

const INDEX = /^(?:0|[1-9][0-9]*)$/

/** The value there; undefined where there is none. */
export function pointed(json: Json | undefined, steps: readonly string[]): Json | undefined {
  let here = json
  for (const step of steps) {
    if (Array.isArray(here)) here = INDEX.test(step) ? here[Number(step)] : undefined
    else if (here !== null && typeof here === 'object' && Object.hasOwn(here, step)) here = here[step]
    else return undefined
  }
  return here
}

/**
 * The same with another value there, or without one. Where the way there is missing nothing changes: a value is put where
 * the object has a field already, or where only the last step is missing.
 */
export function withPointed(json: Json, steps: readonly string[], value: Json | undefined): Json {
  const [step, ...rest] = steps
  if (step === undefined) return value ?? json
  if (Array.isArray(json)) {
    const index = INDEX.test(step) ? Number(step) : json.length
    const item = json[index]
    if (item === undefined) return json
    if (rest.length === 0 && value === undefined) return json.toSpliced(index, 1)
    return json.with(index, withPointed(item, rest, value))
  }
  if (json === null || typeof json !== 'object') return json
  const has = Object.hasOwn(json, step)
  if (rest.length > 0) return has ? { ...json, [step]: withPointed(json[step]!, rest, value) } : json
  if (value !== undefined) return { ...json, [step]: value }
  if (!has) return json
  const { [step]: _gone, ...others } = json
  return others
}
