import { shown, shownName } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { artifactApprovals, verifyApprovals } from './artifact-approvals.ts'
import { followedText, isSame } from './followed-text.ts'
import { type GuardedChange, guardedChanges } from './guarded-changes.ts'
import { lostClusters } from './lost-clusters.ts'
import { lostDeclarations } from './lost-declarations.ts'
import { newClusters } from './new-clusters.ts'
import { newlyApplied } from './newly-applied.ts'
import { nothingEvaluated } from './nothing-evaluated.ts'
import { remoteApprovals } from './remote-approvals.ts'
import { type RemoteFile, remoteFiles, sameFile } from './remote-files.ts'
import { replicatedRights } from './replicated-rights.ts'
import { sharedNodes } from './shared-nodes.ts'
import { unfollowedObjects } from './unfollowed-objects.ts'
import { unreadSources } from './unread-sources.ts'
import { unrenderedSets } from './unrendered-sets.ts'

/**
 * Clusters that follow another revision or repository from now on: from there on nothing that is merged here reaches them, and
 * what does is evaluated only as far as that is visible.
 */
function followedRoots(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(rootsOf(base).map(node => [node.cluster, node]))
  return rootsOf(head).flatMap(node => {
    const was = before.get(node.cluster)
    const { opaque, unmatched } = node.source
    // another address is an evaluation error, and what was not visible before is no news
    if (!was || unmatched || (isSame(was, node) && (was.source.opaque !== undefined || opaque === undefined))) return []
    const seen = opaque === undefined ? '' : `. That is not visible, so nothing of it is evaluated: ${opaque}`
    const message = `cluster ${shownName(node.cluster)}: it would follow ${shown(followedText(node))}, not ${shown(followedText(was))} as before${seen}`
    const rule = opaque === undefined ? 'source-ungated-ref' : 'source-opaque'
    return [{ rule, path: node.kustomization.root.origin.file, message }]
  })
}

const rootsOf = ({ nodes }: Fleet) => nodes.filter(({ parent }) => parent === undefined)

/**
 * What a change passes only with, by the approval of a fleet admin: guarded files of the fleet, new remote files of the
 * platform, and what leads out of what is evaluated.
 */
export function requiredApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const [now, before] = [remoteFiles(head), remoteFiles(base)]
  const known = new Set(before.flatMap(({ known }) => known))
  const added = now.filter(one => !known.has(one.key))
  // a patch that goes leaves the remote file as it is written there; with the file itself it has nothing to do any more
  const urls = new Set(now.map(({ url }) => url))
  const files = new Set(added.map(({ file }) => file))
  const present = new Set(now.map(sameFile))
  const gone = before.filter(
    one => one.isPatch && !present.has(sameFile(one)) && urls.has(one.url) && !files.has(one.file),
  )
  const [tree, old] = [head.repositories[0]?.tree, base.repositories[0]?.tree]
  const guarded = tree && old && tree.id !== old.id ? guardedChanges(changedPaths(old, tree)) : []
  const named = new Set(before.map(nameOf))
  const remote = [...added.map(one => approvalOfRemote(one, named.has(nameOf(one)))), ...gone.map(approvalOfGone)]
  const all = [
    ...guarded.map(approvalOf),
    ...remote,
    ...newlyApplied(head, base),
    ...lostClusters(head, base),
    ...newClusters(head, base),
    ...lostDeclarations(head),
    ...followedRoots(head, base),
    ...remoteApprovals(head, base),
    ...sharedNodes(head, base),
    ...replicatedRights(head, base),
    ...unfollowedObjects(head, base),
    ...unreadSources(head, base),
    ...unrenderedSets(head, base),
    ...artifactApprovals(head, base),
    ...verifyApprovals(head, base),
    ...nothingEvaluated(head, base),
  ]
  return [...new Map(all.map(one => [JSON.stringify(one), one])).values()]
}

/** A guarded file that a change edits, as a required approval. */
export function approvalOf({ rule, path, what }: GuardedChange): RequiredApproval {
  return { rule, path, message: `${path} ${what}` }
}

const nameOf = ({ url, file, isPatch }: RemoteFile) => JSON.stringify([url, file, isPatch])

function approvalOfRemote({ url, file, isPatch }: RemoteFile, isKnown: boolean): RequiredApproval {
  const what = isPatch ? `changes what the remote file ${shown(url)} holds` : `names the remote file ${shown(url)}`
  const why = isKnown ? 'which is applied in another place or form' : 'which is new here'
  const message = `${file} ${what}, ${why} and is not evaluated`
  return { rule: 'kustomize-remote-base', path: file, message }
}

function approvalOfGone({ url, file }: RemoteFile): RequiredApproval {
  const message = `${file} no longer changes what the remote file ${shown(url)} holds, which is not evaluated`
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
