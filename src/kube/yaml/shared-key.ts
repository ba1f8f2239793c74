/** UTF-16 units of all keys that are kept, then they are forgotten. A fleet has some thousand different keys. */
const KEPT = 64 * 1024

const known = new Map<string, string>()
let units = 0

/**
 * The key of a map as one string for all maps and tables: a lookup then compares addresses instead of texts. A part of a
 * file's text would also keep all of that text in memory.
 */
export function sharedKey(text: string): string {
  const shared = known.get(text)
  if (shared !== undefined) return shared
  if (text.length > KEPT) return text
  units += text.length
  if (units > KEPT) {
    known.clear()
    units = text.length
  }
  // JavaScript has one string for each name of a property, which is also that of constants and of parsed JSON
  const [made = text] = Object.keys({ [text]: 0 })
  known.set(made, made)
  return made
}
