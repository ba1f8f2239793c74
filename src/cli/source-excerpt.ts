import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import type { Origin } from '../origin.ts'

/** No excerpt is shown from a larger file. */
const LARGEST = 1024 * 1024

/** Finds the line that wrote a value: in the local repository, or else in the first fetched revision of its repository that has the file. */
export function sourceExcerpt(fleet: Fleet, own: Tree, here: string): (origin: Origin) => string | undefined {
  const files = new Map<string, readonly string[]>()
  const linesOf = (repository: string, file: string): readonly string[] => {
    const key = JSON.stringify([repository, file])
    const known = files.get(key)
    if (known) return known
    const isHere = repository === '' || repository === here
    const trees = isHere ? [own] : fleet.repositories.filter(({ url }) => url === repository).map(({ tree }) => tree)
    const tree = trees.find(one => one.entry(file)?.type === 'file')
    const bytes = tree?.read(file)
    const lines = bytes && bytes.length <= LARGEST ? new TextDecoder().decode(bytes).split('\n') : []
    files.set(key, lines)
    return lines
  }
  return ({ repository, file, line }) => (file === '' || line < 1 ? undefined : linesOf(repository, file)[line - 1])
}
