import type { Refusal } from './cluster-error.ts'

/** More is for nobody to read; a webhook may name any number. */
const MOST = 10
const LONGEST = 300

/** The fields that a refusal is about, as the API server names them, each once. */
export function namedFields({ causes }: Refusal): string[] {
  const fields = causes.map(({ field }) => field).filter(field => field !== '' && field.length <= LONGEST)
  return [...new Set(fields)].slice(0, MOST)
}
