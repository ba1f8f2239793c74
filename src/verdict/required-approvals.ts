import { causeOf } from '../fleet/facts/fingerprint.ts'
import { heldNodes } from '../fleet/facts/reconcilers.ts'
import { followed } from '../fleet/facts/repositories.ts'
import { shown, shownName, shownObject } from '../fleet/facts/shown.ts'
import { type Cluster, type Fleet, type FleetNode, type FleetRepository, nodesByKey } from '../fleet/model/fleet.ts'
import { FLEET_FILE } from '../fleet/model/fleet-config.ts'
import { changedPaths } from '../fleet/rendering/trees.ts'
import { membersOf } from '../fleet/tenancy/delegated.ts'
import type { Tree, TreeEntry } from '../git/tree.ts'
import { canonical } from '../kube/node.ts'
import { BASELINE_FILE } from '../rules/model/baseline.ts'
import type { RequiredApproval } from '../rules/model/finding.ts'
import { Manifests } from './classify-files.ts'
import { leftOutOf } from './evaluated.ts'
import { placeOf } from './hidden-content.ts'
import { remoteApprovals, unfollowedObjects } from './kubeconfig-approvals.ts'
import { artifactApprovals, lostDeclarations, verifyApprovals } from './source-approvals.ts'
import { type RemoteFile, remoteFiles, replicatedRights, sameFile, unrenderedSets } from './unseen-approvals.ts'
import { followedText, isSame, unreadSources } from './unseen-sources.ts'

/**
 * Clusters that follow another revision or repository from now on: from there on nothing that is merged here reaches them, and
 * what does is evaluated only as far as that is visible.
 */
function followedRoots(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(rootsOf(base).map(node => [node.cluster, node]))
  return rootsOf(head).flatMap(node => {
    const was = before.get(node.cluster)
    const { opaque, unmatched } = node.source
    // another address is an evaluation error, and what was not visible before needs no approval again
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
  const guarded = tree && old && tree.id !== old.id ? guardedChanges(changedFiles(old, tree)) : []
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
  return { rule, path, message: `This changes ${path}, which ${what}` }
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
function changedFiles(before: Tree, now: Tree): ReadonlySet<string> {
  const known = new Map([...guardable(before)].map(({ path, id, type }) => [path, `${type} ${id}`]))
  const changed = new Set<string>()
  for (const { path, id, type } of guardable(now)) {
    if (known.get(path) !== `${type} ${id}`) changed.add(path)
    known.delete(path)
  }
  for (const path of known.keys()) changed.add(path)
  return changed
}

/** Every entry at the root that is not a directory, in docs, and below .github, in any case of letters. */
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

/** A change of a file that decides who may change what: its content cannot be evaluated, only who agreed to it. */
interface GuardedChange {
  readonly rule: 'gate-config-change' | 'gate-workflow-change'
  readonly path: string
  /** What the file does, for a sentence. */
  readonly what: string
}

/** GitHub looks for it in three places, the first wins; a file of another case in one of them is never a slip. */
const OWNERS = new Set(['codeowners', '.github/codeowners', 'docs/codeowners'])

/**
 * The changed files of a fleet's repository that its admins must agree to, in the order of paths: our own file and
 * baseline, CODEOWNERS, and workflows with local actions, which can push and forge a status. In any case of letters.
 */
export function guardedChanges(changed: ReadonlySet<string>): GuardedChange[] {
  return [...changed].sort().flatMap(path => guardedChange(path) ?? [])
}

function guardedChange(path: string): GuardedChange | undefined {
  const name = path.toLowerCase()
  if (name === FLEET_FILE) return { rule: 'gate-config-change', path, what: 'configures what Bailiwick allows' }
  if (name === BASELINE_FILE) return { rule: 'gate-config-change', path, what: 'lists accepted findings' }
  if (OWNERS.has(name)) return { rule: 'gate-config-change', path, what: 'configures who must review a change' }
  if (!/^\.github\/(?:workflows|actions)\/(?!.*\.md$)/.test(name)) return undefined
  return { rule: 'gate-workflow-change', path, what: 'runs with rights on this repository' }
}

const RULE = 'tenant-removed'

/**
 * Clusters of the base of which nothing is evaluated once the change is merged, or which start elsewhere or have another
 * name then, however they are found: their Flux still runs, unaware of that.
 */
function lostClusters(head: Fleet, base: Fleet): RequiredApproval[] {
  const stay = head.clusters.filter(({ former }) => !former)
  const gone = new Set(base.clusters.flatMap(was => (whatBecomesOf(was, stay) === undefined ? [] : [was.name])))
  return base.clusters.flatMap(was => {
    const what = whatBecomesOf(was, stay)
    // what a hub applies to others goes with it, and what moves is asked for by itself
    if (what === undefined || (was.hub !== undefined && (gone.has(was.hub) || isMoved(was, head, base)))) return []
    return [{ rule: RULE, path: startFile(was, base), message: `cluster ${shownName(was.name)}: ${what}` }]
  })
}

function whatBecomesOf({ name, path, hub }: Cluster, stay: readonly Cluster[]): string | undefined {
  const same = stay.find(one => one.name === name)
  if (same?.path === path) return undefined
  if (hub !== undefined) return same ? undefined : 'nothing is applied to it any longer'
  const from = path === '' ? 'the root of the repository' : shown(path)
  if (same) return `it would start from ${shown(same.path)}, not from ${from} as before`
  const renamed = stay.find(one => one.path === path && one.hub === undefined)
  if (renamed) return `it would be called ${shownName(renamed.name)}`
  return `it would no longer be evaluated, although its Flux may still follow ${from}`
}

/** Whether a Kustomization that was applied to it is applied elsewhere now. */
function isMoved({ name }: Cluster, head: Fleet, base: Fleet): boolean {
  const keys = new Set(head.nodes.map(({ key }) => key))
  return base.nodes.some(node => node.cluster === name && keys.has(node.key))
}

const NEW_CLUSTER_RULE = 'flux-control-plane-object'

/**
 * Clusters that the base does not have, and further ways in which one of the base starts. What a cluster is given before
 * Flux starts on it is applied as a whole, as the platform, and only the change defines its tenants.
 */
function newClusters(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.clusters.map(cluster => [cluster.name, cluster]))
  const stay = head.clusters.filter(({ former, hub }) => !former && hub === undefined)
  const names = new Set(stay.map(({ name }) => name))
  // a cluster that gets another name is asked for as such
  const renamed = new Set(base.clusters.flatMap(({ name, path }) => (names.has(name) ? [] : [path])))
  return stay.flatMap(cluster => {
    const { name, path } = cluster
    const was = before.get(name)
    if (was) return otherStarts(cluster, was)
    if (renamed.has(path)) return []
    const from = path === '' ? 'the root of the repository' : shown(path)
    const message = `cluster ${shownName(name)} is new: Flux would apply ${from} to it as the platform, as soon as Flux is started there`
    return [{ rule: NEW_CLUSTER_RULE, path: startFile(cluster, head), message }]
  })
}

/** Of several declarations of how one cluster starts, one is evaluated. */
function otherStarts({ name, otherStarts: now = [] }: Cluster, was: Cluster): RequiredApproval[] {
  const known = new Set((was.otherStarts ?? []).map(({ text }) => text))
  return now.flatMap(({ file, text }) => {
    if (known.has(text)) return []
    const message = `${file} defines the start of cluster ${shownName(name)} a second time, and differently. Only one of the two is evaluated, and Flux may apply either`
    return [{ rule: NEW_CLUSTER_RULE, path: file, message }]
  })
}

/** The file from which a cluster starts, or that of the first Kustomization that its hub applies to it; '' without any. */
function startFile({ name, hub }: Cluster, { nodes }: Fleet): string {
  const first = nodes.find(node => node.cluster === name && (hub !== undefined || node.parent === undefined))
  return first?.kustomization.root.origin.file ?? ''
}

/** Whether anything of a fleet was built. */
export const isEvaluated = ({ nodes }: Fleet): boolean =>
  nodes.some(({ digest, objects }) => digest !== '' || objects.length > 0)

/** Where nothing can be evaluated, before the change and after it, someone who knows the cluster decides. */
function nothingEvaluated(head: Fleet, base: Fleet): RequiredApproval[] {
  const [cluster] = head.clusters
  if (!cluster || isEvaluated(head) || !mayMatter(head, base)) return []
  const message = 'no Kustomization of the fleet can be rendered, so nothing of this change is evaluated'
  return [{ rule: 'nothing-evaluated', path: startFile(cluster, head), message }]
}

/** Whether a change that is visible has a file that a controller could read; one of what is not visible may. */
function mayMatter(head: Fleet, base: Fleet): boolean {
  const before = new Map(base.repositories.map(one => [followed(one), one.tree]))
  const changed = head.repositories.filter(one => before.get(followed(one))?.id !== one.tree.id)
  const isRead = (one: FleetRepository) => {
    const was = before.get(followed(one))
    const manifests = was && new Manifests([one.tree, was])
    return !manifests || [...changedPaths(was, one.tree)].some(path => manifests.mayBeRead(path))
  }
  return changed.length === 0 || changed.some(isRead)
}

/**
 * What an existing hole of the platform hides, where the change has it applied in a new place, with other rights, in another
 * form or again: it is not evaluated there either.
 */
function newlyApplied(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = [...unseenParts(base)]
  const places = new Set(before.flatMap(({ cause, place }) => place.known.map(one => `${cause} ${one}`)))
  const causes = new Set(before.map(({ cause }) => cause))
  return [...unseenParts(head)].flatMap(({ cause, place, error, origin, node }) => {
    if (!causes.has(cause) || place.now === undefined || places.has(`${cause} ${place.now}`)) return []
    const path = origin.file
    const name = shownObject('Kustomization', node.namespace, node.name)
    const message = `${path}: what is not evaluated of it would be applied anew, by ${name} on cluster ${shown(node.cluster)}`
    return [{ rule: error.rule ?? error.code, path, message }]
  })
}

/** What the platform's Kustomizations hold that Flux applies without an evaluation. */
function* unseenParts(fleet: Fleet) {
  const held = heldNodes(fleet.nodes)
  for (const node of fleet.nodes) {
    if (node.tenant !== undefined || node.holes === undefined) continue
    for (const { error, hides, isFatal, remote } of leftOutOf(node)) {
      if (isFatal || remote !== undefined) continue
      const origin = error.origin ?? node.kustomization.root.origin
      yield {
        cause: `${causeOf(error, origin)} ${hides}`,
        place: placeOf(node, held.has(node.key)),
        error,
        origin,
        node,
      }
    }
  }
}

/** What one repository changes in the namespaces of several tenants: each of them may refuse the other's content. */
function sharedNodes(head: Fleet, base: Fleet): RequiredApproval[] {
  const shared = head.nodes.filter(({ tenant }) => tenant !== undefined && membersOf(tenant).length > 1)
  if (shared.length === 0) return []
  const before = nodesByKey(base.nodes)
  return shared.flatMap(node => {
    const was = before.get(node.key)
    if (was && was.tenant === node.tenant && was.digest === node.digest) return []
    const { namespace, name, cluster } = node
    const message = `${shownObject('Kustomization', namespace, name)} on cluster ${shownName(cluster)} applies one repository in the namespaces of several tenants`
    return [{ rule: 'namespace-confinement', path: changedFile(node, was), message }]
  })
}

/** Where the first object that is not as before is written, or the Kustomization. */
function changedFile({ objects, kustomization }: FleetNode, was: FleetNode | undefined): string {
  const known = new Set(was?.objects.map(object => canonical(object.root)))
  const changed = was && objects.find(object => !known.has(canonical(object.root)))
  return (changed ?? kustomization).root.origin.file
}
