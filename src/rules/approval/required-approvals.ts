import type { Fleet } from '../../fleet/fleet.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { RequiredApproval } from '../finding.ts'
import { shown } from '../shown.ts'
import { keyOf, type RemoteFile, remoteFiles } from '../verdict/remote-files.ts'
import { type GuardedChange, guardedChanges } from './guarded-changes.ts'

/** What a change passes only with, by the approval of a fleet admin: guarded files of the fleet, and new remote files of the platform. */
export function requiredApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const known = new Set(remoteFiles(base).map(keyOf))
  const added = remoteFiles(head).filter(one => !known.has(keyOf(one)))
  const [now, before] = [head.repositories[0]?.tree, base.repositories[0]?.tree]
  const guarded = now && before && now.id !== before.id ? guardedChanges(changedPaths(before, now)) : []
  return [...guarded.map(approvalOf), ...added.map(approvalOfRemote)]
}

/** A guarded file that a change edits, as a required approval. */
export function approvalOf({ rule, path, what }: GuardedChange): RequiredApproval {
  return { rule, path, message: `${path} ${what}` }
}

function approvalOfRemote({ url, file }: RemoteFile): RequiredApproval {
  const message = `${file} names the remote file ${shown(url)}, which is new here and is not evaluated`
  return { rule: 'kustomize-remote-base', path: file, message }
}

/** Paths among those that may be guarded whose content differs; a submodule or link counts like a file. */
function changedPaths(before: Tree, now: Tree): ReadonlySet<string> {
  const known = new Map([...guardable(before)].map(({ path, id, type }) => [path, `${type} ${id}`]))
  const changed = new Set<string>()
  for (const { path, id, type } of guardable(now)) {
    if (known.get(path) !== `${type} ${id}`) changed.add(path)
    known.delete(path)
  }
  for (const path of known.keys()) changed.add(path)
  return changed
}

/** Every entry that is no directory at the root, in docs, and below .github, in any case of letters. */
function* guardable(tree: Tree): Generator<TreeEntry> {
  for (const entry of tree.list('')) {
    const name = entry.name.toLowerCase()
    if (entry.type !== 'directory') yield entry
    else if (name === 'docs') yield* tree.list(entry.path).filter(({ type }) => type !== 'directory')
    else if (name === '.github') yield* below(tree, entry.path)
  }
}

function* below(tree: Tree, path: string): Generator<TreeEntry> {
  const queue = [path]
  for (let here = queue.pop(); here !== undefined; here = queue.pop()) {
    for (const entry of tree.list(here)) {
      if (entry.type === 'directory') queue.push(entry.path)
      else yield entry
    }
  }
}
