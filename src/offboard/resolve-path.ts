import { joinPath } from '../kustomize/paths/resolve-path.ts'

/** A path that a kustomization in directory `from` names, in the tree; undefined where it leads out of it or to elsewhere. */
export function resolvePath(from: string, entry: string): string | undefined {
  if (entry.includes('://') || entry.startsWith('/') || entry.includes('?')) return undefined
  return joinPath(from, entry)?.join('/')
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
