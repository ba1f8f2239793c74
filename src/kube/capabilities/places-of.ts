import type { Node, Path } from '../node.ts'

/** Names of annotations have dots themselves, which are written as `\.`. */
const DOT = /(?<!\\)\./
const STEPS = new Map<string, readonly string[]>()

/**
 * The paths of everything that is there at a place of the table (see NamingField.at), each once. The work is linear in the
 * object: `**` may stand once in a place.
 */
export function placesOf(root: Node, place: string): Path[] {
  const found: Path[] = []
  visit(root, [], stepsOf(place), found)
  return found
}

/** The steps of a place. */
export function stepsOf(place: string): readonly string[] {
  const known = STEPS.get(place)
  if (known) return known
  const steps = place.split(DOT).map(step => step.replaceAll('\\.', '.'))
  STEPS.set(place, steps)
  return steps
}

function visit(node: Node, path: Path, steps: readonly string[], found: Path[]): void {
  const [step, ...rest] = steps
  if (step === undefined) {
    found.push(path)
    return
  }
  if (step === '**') visit(node, path, rest, found)
  for (const [key, child] of childrenOf(node)) {
    if (step === '**') visit(child, [...path, key], steps, found)
    else if (step === '*' || (step === key && typeof key === 'string')) visit(child, [...path, key], rest, found)
  }
}

function* childrenOf(node: Node): Iterable<[string | number, Node]> {
  if (node.type === 'list') yield* node.items.entries()
  else if (node.type === 'map') for (const [key, { value }] of node.fields) yield [key, value]
}
