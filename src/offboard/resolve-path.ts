/** A path that a kustomization in directory `from` names, in the tree; undefined where it leads out of it or to elsewhere. */
export function resolvePath(from: string, entry: string): string | undefined {
  if (entry.includes('://') || entry.startsWith('/') || entry.includes('?')) return undefined
  const parts = from === '' ? [] : from.split('/')
  for (const part of entry.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** Whether `path` is `directory` or lies below it. */
export const isInside = (path: string, directory: string): boolean =>
  directory === '' || path === directory || path.startsWith(`${directory}/`)

/** A path of a Flux object as the tree writes it. */
export const cleanPath = (path: string): string =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')
