import { BailiwickError } from '../errors.ts'
import { probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'

/** A value of clusters.yaml as a map. Throws `config` naming file and key. */
export function settingsMap(value: unknown, file: string, at: string): Map<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Map(Object.entries(value))
  throw wrongSetting(file, at, 'is not a map')
}

/** Throws `config` for a key that is not allowed. */
export function onlyKeys(
  map: ReadonlyMap<string, unknown>,
  allowed: readonly string[],
  file: string,
  prefix: string,
): void {
  for (const key of map.keys()) {
    if (allowed.includes(key)) continue
    const meant = probably(key, allowed)
    const what = `is an unknown key. Allowed: ${allowed.join(', ')}`
    throw wrongSetting(file, `${prefix}${visible(key, 100)}`, what, meant && `Did you mean ${meant}?`)
  }
}

/** A text of the map that is neither empty nor surrounded by spaces. Throws `config` for anything else. */
export function settingsText(
  map: ReadonlyMap<string, unknown>,
  key: string,
  { file, at, fallback }: { readonly file: string; readonly at: string; readonly fallback?: string | undefined },
): string {
  const value = map.get(key) ?? fallback
  if (typeof value === 'string' && value !== '' && value.trim() === value) return value
  throw wrongSetting(file, `${at}.${key}`, value === undefined ? 'is missing' : 'is not a string')
}

/** The error for a key of clusters.yaml. */
export function wrongSetting(
  file: string,
  key: string,
  what: string,
  fix = `Correct ${key} in ${file}.`,
): BailiwickError {
  return new BailiwickError('config', `${file}: ${key} ${what}`, { fix })
}
