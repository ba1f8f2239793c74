import { normaliseUrl } from '../../kube/url.ts'

const ADDRESS = /(?:https?|ssh):\/\/[^\s"'<>,;]+|[\w.-]{1,100}@[\w.-]{1,100}:[^\s"'<>,;]+/g
const VARIABLE = /\$\{[^}]*\}/g
const MAX_NAMES = 10_000

/**
 * Addresses of repositories that texts name, normalised and sorted; a variable in one is written `*`. Of more names than
 * anybody writes the rest is `*`, any repository.
 */
export function namedRepositories(texts: Iterable<string>): string[] {
  const found = new Set<string>()
  for (const text of texts) {
    for (const [address] of text.matchAll(ADDRESS)) {
      if (found.size >= MAX_NAMES) return [...found.add('*')].sort()
      found.add(normaliseUrl(address.replace(VARIABLE, '*')))
    }
  }
  return [...found].sort()
}

/** Whether what was named leads to the repository at `url`. */
export function mayLeadTo(names: readonly string[], url: string): boolean {
  return names.some(name => isNamed(name, url))
}

/** Whether a name that namedRepositories gave stands for `url`: `*` is any text. */
function isNamed(name: string, url: string): boolean {
  const [first = '', ...parts] = name.split('*')
  if (!url.startsWith(first)) return false
  let from = first.length
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1
    const at = last ? url.length - part.length : url.indexOf(part, from)
    if (at < from || !url.startsWith(part, at)) return false
    from = at + part.length
  }
  return from === url.length
}
