import { BailiwickError } from '../../src/errors.ts'
import { type Fix, fixesOf } from '../../src/fix/fixes-of.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { TreeSnapshot } from '../../src/git/tree.ts'
import { viewFor } from '../../src/report/text/audience.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/**
 * Returns the certain fixes of a verdict's new findings in its own repository, as its readers may see them. Makes no
 * request.
 */
export function readFixes({ outcome, context, tree }: CommitOutcome): readonly Fix[] {
  if (outcome === undefined || outcome instanceof BailiwickError || !tree) return []
  const { verdict } = viewFor(outcome, context.audience, context.repository, context.nodes)
  if (![...verdict.violations, ...verdict.warnings].some(one => one.edit !== undefined)) return []
  const texts = textsOf(tree)
  return fixesOf(verdict, context.repository, path => texts(path))
}

/** Keeps the fixes whose file is the same at the head as in the evaluated merge. */
export function fixesAtHead<T extends Pick<Fix, 'path'>>(
  fixes: readonly T[],
  evaluated: TreeSnapshot,
  head: TreeSnapshot,
): readonly T[] {
  const ids = (tree: TreeSnapshot) => new Map(tree.entries.map(({ path, mode, id }) => [path, `${mode} ${id}`]))
  const [before, after] = [ids(evaluated), ids(head)]
  return fixes.filter(({ path }) => before.get(path) !== undefined && before.get(path) === after.get(path))
}

/** Returns a reader for regular files that are valid UTF-8. */
export function textsOf(snapshot: TreeSnapshot): (path: string) => string | undefined {
  const tree = openSnapshot(snapshot)
  return path => {
    if (tree.entry(path)?.type !== 'file') return undefined
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(tree.read(path))
    } catch (error) {
      if (error instanceof TypeError) return undefined // other bytes than UTF-8: nothing of it is edited
      throw error
    }
  }
}
