import type { Origin, SourceLine } from '../origin.ts'
import type { MapNode, Node } from './node.ts'

/**
 * The lines that wrote the values of one object, without the values: the files, and a step for each value in the order of
 * the canonical text. A step is how many lines it is away from the one before, in base 36; `@<file>:` before it: in another file.
 */
export interface FieldLines {
  readonly files: readonly Pick<SourceLine, 'repository' | 'file'>[]
  readonly steps: string
}

/** The lines of an object, a few characters for each value. lineOfField reads them. */
export function fieldLines(root: MapNode): FieldLines {
  const files: Pick<SourceLine, 'repository' | 'file'>[] = []
  const steps: string[] = []
  const known = new Map<string, Map<string, number>>()
  let at = { file: -1, line: 0 }
  const indexOf = ({ repository, file }: Origin): number => {
    const here = known.get(repository) ?? new Map<string, number>()
    known.set(repository, here)
    const index = here.get(file) ?? files.push({ repository, file }) - 1
    here.set(file, index)
    return index
  }
  const note = (origin: Origin) => {
    const { line } = origin
    const index = indexOf(origin)
    const step = (line - at.line).toString(36)
    steps.push(index === at.file ? step : `@${index}:${step}`)
    at = { file: index, line }
  }
  const visit = (node: Node) => {
    if (node.type === 'list') {
      for (const item of node.items) {
        note(item.origin)
        visit(item)
      }
    } else if (node.type === 'map') {
      for (const name of [...node.fields.keys()].sort()) {
        const { key, value } = node.fields.get(name)!
        // a value of several lines begins at its key
        note(value.type === 'scalar' || key.file !== value.origin.file ? value.origin : key)
        visit(value)
      }
    }
  }
  visit(root)
  return { files, steps: steps.join(',') }
}
