import { BailiwickError } from '../../errors.ts'
import type { Artifact } from '../../flux/artifact.ts'
import type { PackBudget } from '../../flux/pack-budget.ts'
import { packTree } from '../../flux/pack-tree.ts'
import { includeTree } from '../../flux/source/include-tree.ts'
import { sparseTree } from '../../flux/source/sparse-tree.ts'
import type { Tree } from '../../git/tree.ts'
import type { Origin } from '../../origin.ts'
import type { ContentSpec, IncludeSpec } from './source-content.ts'
import type { Resolved } from './sources.ts'

/** What `spec.include` names, resolved. */
export interface Included {
  readonly id: string
  readonly spec: IncludeSpec
  readonly resolved: Resolved
}

type Content = Resolved & { readonly type: 'content' }

/** Files of one artifact with all that it includes: includes of includes could double it again and again. */
const MAX_FILES = 50_000

/**
 * A source with its sparse checkout done and what it includes in its place; where that could not be read, the reason of
 * the first that stands in the way. Throws `flux-invalid` for includes that source-controller refuses, `render-limits`.
 */
export function composeSource(
  base: Content,
  spec: ContentSpec,
  included: readonly Included[],
  budget: PackBudget,
): Resolved {
  const includes = included.flatMap(({ id, resolved }) => [
    {
      ...{ id, url: resolved.url, ref: resolved.ref, commit: resolved.type === 'content' ? resolved.commit : '' },
      ...(resolved.lent ? { lent: true as const } : {}),
      ...(resolved.verify ? { verify: resolved.verify } : {}),
    },
    ...(resolved.includes ?? []),
  ])
  for (const { id, resolved } of included) {
    if (resolved.type === 'wanted') return resolved
    if (resolved.type === 'content' && !resolved.refused) continue
    const why = resolved.type === 'opaque' ? resolved.reason : resolved.refused!.message
    return { ...placeOf(base), type: 'opaque', reason: `it includes ${id}: ${why}`, includes }
  }
  const refused = spec.submodules && withoutSubmodules(base.artifact.tree, spec.submodules)
  if (refused) return { ...base, refused }
  let tree = spec.sparse ? sparseTree(base.artifact.tree, spec.sparse) : base.artifact.tree
  let files = included.length > 0 ? countFiles(tree) : 0
  for (const { spec: include, resolved } of included) {
    const { tree: content, ignore, repository } = (resolved as Content).artifact
    const packed = packTree(content, ignore, budget)
    files += countFiles(packed)
    if (files > MAX_FILES) {
      const message = `spec.include: the source and its includes have more than ${MAX_FILES} files`
      throw new BailiwickError('render-limits', message, { origin: include.origin, fix: 'Include fewer files.' })
    }
    tree = includeTree(tree, { ...include, content: packed, repository })
  }
  if (tree === base.artifact.tree) return base
  const artifact: Artifact = { ...base.artifact, tree, composed: true }
  return { ...base, artifact, ...(includes.length > 0 ? { includes } : {}) }
}

const placeOf = ({ url, ref, lent }: Content) => ({ url, ref, ...(lent ? { lent } : {}) })

function* entriesOf(tree: Tree): Generator<string> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    for (const { path, type } of tree.list(directory)) {
      yield type
      if (type === 'directory') queue.push(path)
    }
  }
}

function countFiles(tree: Tree): number {
  let count = 0
  for (const _type of entriesOf(tree)) if (++count > MAX_FILES) return count
  return count
}

/** Without submodules in the tree there is nothing to recurse into. */
function withoutSubmodules(tree: Tree, origin: Origin): BailiwickError | undefined {
  for (const type of entriesOf(tree)) {
    if (type !== 'submodule') continue
    const message = 'spec.recurseSubmodules: not supported. Bailiwick does not read submodules'
    const fix = 'Include the other repository with spec.include instead.'
    return new BailiwickError('flux-unsupported', message, { origin, fix })
  }
  return undefined
}
