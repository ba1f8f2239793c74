import type { Cursor } from './cursor.ts'

/** Characters of a schema that are looked at: those of OpenAPI extensions have fewer than a hundred. */
const LONGEST = 10_000

/**
 * Whether kustomize reads the comment at the cursor as a schema: a JSON object that is not empty (kyaml's fieldmeta).
 * Throws `yaml-ambiguous` for one that is too long to be looked at.
 */
export function isSchema(cursor: Cursor): boolean {
  const { text } = cursor
  let at = cursor.at
  while (text.charCodeAt(at) === 35) at++
  while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++
  if (text.charCodeAt(at) !== 123) return false
  const end = text.indexOf('\n', at)
  // no JSON object ends otherwise, and a refused parse is slow
  if (
    !text
      .slice(at, end < 0 ? -1 : end)
      .trimEnd()
      .endsWith('}')
  )
    return false
  if ((end < 0 ? text.length : end) - at > LONGEST)
    cursor.doubt(`a comment in braces of more than ${LONGEST} characters`)
  try {
    return Object.keys(JSON.parse(text.slice(at, end < 0 ? -1 : end)) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
