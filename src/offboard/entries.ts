import type { Tree } from '../git/tree.ts'
import type { Placed } from './belongings.ts'
import { isKustomizationFile } from './references-to.ts'

/** A line of a kustomization that brings objects: an entry of `resources` or `components`, or a generator. */
interface Entry {
  readonly file: string
  readonly line: number
}

/** Which of the objects that the platform renders go. */
export type IsDoomed = (placed: Placed) => boolean

const keyOf = ({ file, line }: Entry) => `${line} ${file}`

/** The lines of kustomizations by which an object came, innermost first. */
function entriesOf({ object }: Placed, tree: Tree): Entry[] {
  const { file, line } = object.root.origin
  const made = isKustomizationFile(file) ? [{ file, line }] : []
  const steps = object.trail.filter(({ step }) => step === 'resource' || step === 'component')
  return [...made, ...steps].filter(entry => tree.entry(entry.file)?.type === 'file')
}

/** The outermost lines that bring nothing but what goes, and whether an object goes with one of them. */
export function removableEntries(all: readonly Placed[], isDoomed: IsDoomed, tree: Tree) {
  const kept = new Set(all.filter(one => !isDoomed(one)).flatMap(one => entriesOf(one, tree).map(keyOf)))
  const removed = new Map<string, Entry>()
  const left: Placed[] = []
  for (const one of all.filter(isDoomed)) {
    const entry = entriesOf(one, tree).findLast(step => !kept.has(keyOf(step)))
    if (entry) removed.set(keyOf(entry), entry)
    else left.push(one)
  }
  return { entries: [...removed.values()], left }
}
