import { BailiwickError } from '../../errors.ts'
import type { Entry } from '../model/entry.ts'

/**
 * The file path with `part` as the element at `position`, or at its end where it has fewer; an absolute one stays
 * absolute (kyaml/filesys, 5.8.1). Throws `kustomize-unsupported` for paths that kustomize would shorten.
 */
export function insertPathPart(path: string, position: number, part: Entry): string {
  if (/(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(`${path}/${part.text}/`.replace(/^\/|\/$/g, ''))) {
    const message = `a value between the parts of the path ${JSON.stringify(path)}`
    throw new BailiwickError('kustomize-unsupported', message, { origin: part.origin })
  }
  const isAbsolute = path.startsWith('/')
  const parts = path === '' || path === '/' ? [] : path.slice(isAbsolute ? 1 : 0).split('/')
  const index = Math.min(position, parts.length)
  const all = [...parts.slice(0, index), part.text, ...parts.slice(index)].filter(other => other !== '')
  return (isAbsolute ? '/' : '') + all.join('/')
}
