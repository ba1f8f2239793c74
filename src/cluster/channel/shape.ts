import { BailiwickError } from '../../base/errors.ts'

/** Reads a value that another process sent. Throws `cluster-invalid` that names the place `at`, never the value. */
export type MessageShape<T> = (value: unknown, at: string) => T

/** What a shape reads. */
export type Read<S> = S extends MessageShape<infer T> ? T : never

type Fields = Readonly<Record<string, MessageShape<unknown>>>
type OptionalOf<F> = { [K in keyof F]: undefined extends Read<F[K]> ? K : never }[keyof F]
type MapOf<F> = { readonly [K in Exclude<keyof F, OptionalOf<F>>]: Read<F[K]> } & {
  readonly [K in OptionalOf<F>]?: Exclude<Read<F[K]>, undefined>
}

function wrong(at: string, what: string): BailiwickError {
  return new BailiwickError('cluster-invalid', `${at} ${what}`)
}

/** Reads the whole text. */
export function readJson<T>(text: string, at: string, shape: MessageShape<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw wrong(`${at}:`, 'is not JSON')
  }
  return shape(value, at)
}

/** A map; fields that are not listed are dropped. An inherited name is not a field. */
export const map =
  <const F extends Fields>(fields: F): MessageShape<MapOf<F>> =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(at, 'is not a map')
    const read: Record<string, unknown> = {}
    for (const [key, shape] of Object.entries(fields)) {
      const field = shape(Object.hasOwn(value, key) ? (value as typeof read)[key] : undefined, `${at}.${key}`)
      if (field !== undefined) read[key] = field
    }
    return read as MapOf<F>
  }

export const optional =
  <T>(shape: MessageShape<T>): MessageShape<T | undefined> =>
  (value, at) =>
    value === undefined ? undefined : shape(value, at)

/** `cut`: more entries are left out, not refused. */
export const list =
  <T>(most: number, shape: MessageShape<T>, cut = false): MessageShape<readonly T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) throw wrong(at, 'is not a list')
    if (value.length > most && !cut) throw wrong(at, `has more than ${most} entries`)
    return value.slice(0, most).map((item: unknown, index) => shape(item, `${at}[${index}]`))
  }

export const text =
  (longest: number, pattern?: RegExp): MessageShape<string> =>
  (value, at) => {
    if (typeof value !== 'string') throw wrong(at, 'is not a string')
    if (value.length > longest) throw wrong(at, `is longer than ${longest} characters`)
    if (pattern && !pattern.test(value)) throw wrong(at, 'is not written as it must be')
    return value
  }

export const whole =
  (most: number = Number.MAX_SAFE_INTEGER): MessageShape<number> =>
  (value, at) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value
    throw wrong(at, `is not a whole number up to ${most}`)
  }

export const flag: MessageShape<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value
  throw wrong(at, 'is neither true nor false')
}

/** True, or absent. */
export const mark: MessageShape<true | undefined> = (value, at) =>
  value !== undefined && flag(value, at) ? true : undefined

export const oneOf =
  <const T extends string>(words: readonly T[]): MessageShape<T> =>
  (value, at) => {
    const found = words.find(word => word === value)
    if (found !== undefined) return found
    throw wrong(at, `is not one of ${words.join(', ')}`)
  }
