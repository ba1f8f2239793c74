import { isAbsent } from '../../kube/edit-node.ts'
import type { Node } from '../../kube/node.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { fieldPathOf } from '../resource/field-path.ts'

interface Branch {
  /** Places in the list of all specs of those that end here. */
  readonly ends: number[]
  readonly below: Map<string, Branch>
}

/**
 * The paths of many specs as one tree, to find in one walk which of them an object has. Most objects have few of the
 * fields that their kind may have.
 */
export class FieldTrie {
  private readonly root: Branch = { ends: [], below: new Map() }
  /** Specs whose paths ask for more than fields by their names. */
  private readonly special: readonly number[]

  constructor(specs: readonly FieldSpec[]) {
    const special: number[] = []
    for (const [index, spec] of specs.entries()) {
      const path = fieldPathOf(spec)
      if (spec.create || path.some(part => part.isList || part.problem)) {
        special.push(index)
        continue
      }
      let branch = this.root
      for (const { name } of path) branch = childOf(branch, name)
      branch.ends.push(index)
    }
    this.special = special
  }

  /** Which specs may lead to something in `object`, by their places: the others certainly do not. */
  met(object: Node): ReadonlySet<number> {
    if (this.special.length === 0) return this.metIn(object) ?? NONE
    return new Set([...this.special, ...(this.metIn(object) ?? NONE)])
  }

  private metIn(object: Node): Set<number> | undefined {
    return collect(object, this.root, undefined)
  }
}

const NONE: ReadonlySet<number> = new Set()

function childOf(branch: Branch, name: string): Branch {
  const known = branch.below.get(name)
  if (known) return known
  const made: Branch = { ends: [], below: new Map() }
  branch.below.set(name, made)
  return made
}

function collect(node: Node, branch: Branch, found: Set<number> | undefined): Set<number> | undefined {
  let all = found
  for (const index of branch.ends) all = (all ?? new Set()).add(index)
  return branch.below.size === 0 ? all : collectBelow(node, branch, all)
}

/** What stands below a branch, in a map or in the maps of a list; a text is where every path below it fails. */
function collectBelow(node: Node, branch: Branch, found: Set<number> | undefined): Set<number> | undefined {
  let all = found
  if (isAbsent(node)) return all
  if (node.type === 'list') for (const item of node.items) all = collectBelow(item, branch, all)
  else if (node.type === 'scalar') for (const below of branch.below.values()) all = everything(below, all)
  else {
    for (const [name, below] of branch.below) {
      const value = node.fields.get(name)?.value
      if (value) all = collect(value, below, all)
    }
  }
  return all
}

function everything(branch: Branch, found: Set<number> | undefined): Set<number> {
  const all = found ?? new Set()
  for (const index of branch.ends) all.add(index)
  for (const below of branch.below.values()) everything(below, all)
  return all
}
