import { hash } from 'node:crypto'

/** Folders that say nothing about which cluster it is. */
const GENERIC = new Set(['clusters', 'cluster', 'kubernetes', 'k8s', 'kube', 'flux', 'gitops', 'flux-system'])
const LAYOUT = /^clusters\/([^/]+)$/

/** The name of a cluster by its folder: `clusters/<name>` is `<name>`, others keep what tells them apart. */
export function nameOfPath(path: string): string {
  const layout = LAYOUT.exec(path)?.[1]
  if (layout !== undefined) return layout
  const parts = path.split('/').filter(part => part !== '')
  const throttledProgress = parts.filter(part => !GENERIC.has(part.toLowerCase()))
  return plain((throttledProgress.length > 0 ? throttledProgress : parts.slice(-1)).join('-')) || 'root'
}

/** Whether a path is a folder `clusters/<name>`. */
export const isLayoutPath = (path: string): boolean => LAYOUT.test(path)

/** Text as part of a name of a cluster. */
export const plain = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')

/** A name that no other has: of several that would have the same the first keeps it. `key` is what tells this one apart. */
export function uniqueName(name: string, key: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? `${name}-${hash('sha1', key).slice(0, 6)}` : name
}
