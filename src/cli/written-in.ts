import type { Fleet } from '../fleet/model/fleet.ts'
import { refKey } from '../fleet/model/ref.ts'
import type { Tree } from '../git/tree.ts'
import type { Origin } from '../origin.ts'

/** No excerpt is shown from a larger file. */
const LARGEST = 1024 * 1024

/** Where in the fetched revisions a value was written. */
interface WrittenIn {
  /** The line that wrote it; undefined where several revisions differ. */
  readonly excerpt: (origin: Origin) => string | undefined
  /** The branch of the local repository that has the file, if the local revision does not. `node`: key of the node that it is about. */
  readonly branchOf: (origin: Origin, node: string) => string | undefined
}

/** Finds the files of origins: in the local revision, or in the fetched ones of their repository. */
export function writtenIn(fleet: Fleet, own: Tree, here: string): WrittenIn {
  const files = new Map<string, readonly string[]>()
  const isHere = (repository: string) => repository === '' || repository === here
  const having = (repository: string, file: string) => {
    const others = fleet.repositories.filter(({ url, tree }) => url === (repository || here) && tree !== own)
    const all = [...(isHere(repository) ? [{ tree: own, ref: undefined }] : []), ...others]
    return all.filter(({ tree }) => tree.entry(file)?.type === 'file')
  }
  const linesOf = (repository: string, file: string): readonly string[] => {
    const key = JSON.stringify([repository, file])
    const known = files.get(key)
    if (known) return known
    const found = having(repository, file)
    const isOne = new Set(found.map(({ tree }) => tree.entry(file)!.id)).size === 1
    const bytes = isOne ? found[0]!.tree.read(file) : undefined
    const lines = bytes && bytes.length <= LARGEST ? new TextDecoder().decode(bytes).split('\n') : []
    files.set(key, lines)
    return lines
  }
  return {
    excerpt: ({ repository, file, line }) =>
      file === '' || line < 1 ? undefined : linesOf(repository, file)[line - 1],
    branchOf: ({ repository, file }, key) => {
      const found = file !== '' && isHere(repository) ? having(repository, file) : []
      if (found.some(({ ref }) => ref === undefined)) return undefined
      const node = fleet.nodes.find(one => one.key === key)
      const ofNode = node && found.find(({ ref }) => ref && refKey(ref) === refKey(node.source.ref))
      return (ofNode ?? (found.length === 1 ? found[0] : undefined))?.ref?.branch
    },
  }
}
