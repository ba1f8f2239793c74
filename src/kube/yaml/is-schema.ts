import type { Cursor } from './cursor.ts'

/** Whether kustomize reads the comment at the cursor as a schema: a JSON object that is not empty (kyaml's fieldmeta). */
export function isSchema(cursor: Cursor): boolean {
  const { text } = cursor
  let at = cursor.at
  while (text.charCodeAt(at) === 35) at++
  while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++
  if (text.charCodeAt(at) !== 123) return false
  const end = text.indexOf('\n', at)
  // no JSON object ends otherwise, and a refused parse is slow
  if (!/\}[ \t\r]*$/.test(text.slice(Math.max(at, (end < 0 ? text.length - 1 : end) - 64), end < 0 ? -1 : end)))
    return false
  try {
    return Object.keys(JSON.parse(text.slice(at, end < 0 ? -1 : end)) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
