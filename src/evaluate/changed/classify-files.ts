import { followed } from '../../facts/evaluated-repositories.ts'
import { isSetNode } from '../../fleet/graph/open-resource-sets.ts'
import type { Fleet, FleetNode, FleetRepository } from '../../fleet/model/fleet.ts'
import { reachableBy } from '../../fleet/reach/why-not-reached.ts'
import { changedPaths } from '../../fleet/rendering/changed-paths.ts'
import { readsOf } from '../../fleet/rendering/render-memo.ts'
import type { Tree } from '../../git/tree.ts'
import type { ChangedFile, RequiredApproval } from '../../rules/model/finding.ts'
import { isBuilt } from '../applied/left-out.ts'
import { followsRepository } from './follows-repository.ts'
import { Manifests } from './manifests.ts'
import { type UnseenReader, unseenReaders } from './unseen-readers.ts'

/** Id of the behavior: a changed file may be applied by what is not visible. */
const UNSEEN_CHANGE = 'unseen-change'

/** So many Kustomizations that render a file are named. */
const FEW = 10

/** The changed files of a repository, and what of them needs an approval because nothing of it was evaluated. */
interface ClassifiedFiles {
  readonly files: readonly ChangedFile[]
  readonly approvals: readonly RequiredApproval[]
}

/**
 * Tells of every file that a change adds, edits or removes in the repository at `url` whether Kustomizations render it,
 * nothing reads it, or something that is not visible may apply it; of either side of the change.
 */
export function classifyFiles(head: Fleet, base: Fleet, url: string): ClassifiedFiles {
  const before = new Map(base.repositories.map(one => [followed(one), one]))
  const changed = head.repositories.flatMap(now => {
    const was = now.url === url ? before.get(followed(now)) : undefined
    if (!was || was.tree.id === now.tree.id) return []
    return [
      {
        now,
        sides: [
          { fleet: head, repository: now },
          { fleet: base, repository: was },
        ],
        was,
      },
    ]
  })
  // a working copy that stands for a branch and for a tag of it is one change
  const same = Map.groupBy(changed, ({ now, was }) => `${now.tree.id} ${was.tree.id}`)
  const all = [...same.values()].flatMap(group =>
    classify(
      group[0]!.now.tree,
      group[0]!.was.tree,
      group.flatMap(({ sides }) => sides),
    ),
  )
  const asks = head.config.unseenChanges === 'approve'
  return { files: all.map(({ file }) => file), approvals: all.flatMap(({ approval }) => (asks && approval) || []) }
}

interface Side {
  readonly fleet: Fleet
  readonly repository: FleetRepository
}

interface Classified {
  readonly file: ChangedFile
  readonly approval?: RequiredApproval
}

function classify(now: Tree, was: Tree, sides: readonly Side[]): Classified[] {
  const paths = [...changedPaths(was, now)].filter(path =>
    [now, was].some(tree => (tree.entry(path)?.type ?? 'directory') !== 'directory'),
  )
  const readers = sides.map(({ fleet, repository }) => renderers(fleet, repository))
  let unseen: readonly UnseenReader[] | undefined
  const manifests = new Manifests([now, was])
  return paths.sort().map(path => {
    const by = [...new Set(readers.flatMap(all => all.flatMap(({ key, hasRead }) => (hasRead(path) ? [key] : []))))]
    if (by.length > 0) return { file: { path, state: 'rendered', by: by.slice(0, FEW), readers: by.length } }
    const none: Classified = { file: { path, state: 'unread', by: [], readers: 0 } }
    if (!manifests.mayBeRead(path)) return none
    unseen ??= sides.flatMap(({ fleet, repository }) => unseenReaders(fleet, repository))
    const found = unseen.filter(one => one.mayRead(path) && (one.takesAll === true || manifests.isManifest(path)))
    const why = [...new Set(found.map(one => one.why))]
    if (why.length === 0) return none
    const file = { path, state: 'unseen', by: why.slice(0, FEW), readers: why.length } as const
    return found.every(one => one.isDecided) ? { file } : { file, approval: approvalOf(file) }
  })
}

function approvalOf({ path, by, readers }: ChangedFile): RequiredApproval {
  const because = `${by[0]}${readers > 1 ? ` (and ${readers - 1} more)` : ''}`
  return { rule: UNSEEN_CHANGE, path, message: `${path} was not checked: ${because}`, because }
}

/** The nodes that render something of a repository, with what they read for it. */
function renderers(fleet: Fleet, repository: FleetRepository) {
  return fleet.nodes.flatMap(node => {
    if (isSetNode(node) || !isBuilt(node) || !followsRepository(node, repository)) return []
    return [{ key: node.key, hasRead: hasRead(node, repository) }]
  })
}

/** What was read for what it renders; where that is not remembered, all that its kustomization files lead to. */
function hasRead(node: FleetNode, { tree }: FleetRepository): (path: string) => boolean {
  const reads = readsOf(node.objects, tree.id)
  if (reads) return path => reads.hasRead(path)
  let reachable: ReturnType<typeof reachableBy> | undefined
  return path => {
    reachable ??= reachableBy(tree, node)
    return reachable(path)
  }
}
