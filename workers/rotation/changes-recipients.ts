import { openSnapshot } from '../../src/git/snapshot.ts'
import { readUnlessLarge, type TreeSnapshot } from '../../src/git/tree.ts'
import type { ValidatePush } from '../../src/queue/queue.ts'
import type { OpenedRepository } from '../context/opened-repository.ts'
import { changedPaths } from '../evaluate/changed-paths.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import { isPassing } from '../job-error.ts'

const SOPS_CONFIG = /(?:^|\/)\.sops\.yaml$/

/**
 * Whether a push to the default branch of a fleet may change which files have other recipients than `.sops.yaml` names: it
 * changes a `.sops.yaml` or an encrypted file. If the previous content of the branch is not known, every fleet with a
 * `.sops.yaml` counts.
 */
export async function changesRecipients(
  { installation, repository }: OpenedRepository,
  { branch, sha, before }: Pick<ValidatePush, 'branch' | 'sha' | 'before'>,
  answers: readonly FleetAnswer[],
): Promise<boolean> {
  const isFleet = answers.some(({ place, alone }) => !alone && place.repository.url === repository.url)
  if (!isFleet || branch !== repository.defaultBranch) return false
  const now = await installation.content(repository, sha)
  const then = before === undefined ? undefined : await contentOrNone(() => installation.content(repository, before))
  if (!then) return now.entries.some(({ path }) => SOPS_CONFIG.test(path))
  const changed = changedPaths(then, now)
  return [...changed].some(path => SOPS_CONFIG.test(path)) || [then, now].some(one => hasEncrypted(one, changed))
}

/** After a force push, GitHub may no longer have the old commit. */
async function contentOrNone(read: () => Promise<TreeSnapshot>): Promise<TreeSnapshot | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isPassing(error)) throw error
    return undefined
  }
}

function hasEncrypted(snapshot: TreeSnapshot, paths: ReadonlySet<string>): boolean {
  const tree = openSnapshot(snapshot)
  return [...paths].some(path => {
    if (tree.entry(path)?.type !== 'file') return false
    const bytes = readUnlessLarge(tree, path)
    return bytes !== undefined && Buffer.from(bytes).includes('sops')
  })
}
