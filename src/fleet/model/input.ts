import { hash } from 'node:crypto'
import type { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Tree } from '../../git/tree.ts'
import { normaliseUrl } from '../../kube/source-address.ts'
import {
  type Cluster,
  type ClusterValues,
  type Fleet,
  type FleetNode,
  isComplete,
  isIncomplete,
  nodesByKey,
} from './fleet.ts'
import { type DeclaredCluster, FLEET_FILE } from './fleet-config.ts'
import type { ReadAccess } from './source-access.ts'
import { refKey, type SourceRef } from './source-ref.ts'

/** The content that a repository has at a ref, read outside the core. */
export interface SourceContent {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly ref: SourceRef
  /** 40 hex digits, or the digest of an artifact (`sha256:...`); '' for a working copy. */
  readonly commit: string
  /** The tag that a range of versions stands for. */
  readonly tag?: string
  /** Of an artifact: the revision that it was built from, as it says itself. Shown only. */
  readonly originRevision?: string
  readonly tree: Tree
}

/** A source that could not be read, and why: evaluated by identity, listed in notSeen. */
export interface OpaqueSource {
  readonly url: string
  readonly ref: SourceRef
  readonly reason: string
}

/** Reason of an opaque source whose address belongs to another repository by now than the one that is pinned for a tenant. */
export const ANOTHER_REPOSITORY = 'its address is now another repository than the pinned one'

/** Everything that a verdict on one input depends on. */
export interface FleetInput {
  /** The fleet repository at one commit; its url and branch are how Flux sources name it. */
  readonly fleet: {
    readonly url: string
    readonly branch: string
    readonly commit: string
    readonly tree: Tree
    /** Another address of this repository, which the caller knows: clusters may follow either. */
    readonly alias?: string
    /** Clusters that the caller names. */
    readonly clusters?: readonly DeclaredCluster[]
  }
  readonly sources: readonly SourceContent[]
  readonly opaque: readonly OpaqueSource[]
  /**
   * Where the fleet's own file is read from instead of `fleet`: the tree that a change is compared with, so that a change
   * is never evaluated by values that it declares itself.
   */
  readonly config?: Tree
  /** Only the cluster of this name is built, where a root has it; to inspect one cluster, never for a verdict. */
  readonly only?: string
  /** What the worker read on clusters; absent: nothing is known of it. */
  readonly values?: ClusterValues
  /** Rules that the operator of this process switched off (tests and emergencies); default none. */
  readonly disabledRules?: readonly string[]
  /** Hosts of registries that the operator lets this process ask for artifacts; default none. */
  readonly registries?: readonly string[]
  /** Decides what may be read for which tenant; absent: the caller may read all of the input anyway. */
  readonly access?: ReadAccess
  /** What the fleet was before: facts that stay where a node does not build as a whole; absent: nothing is known of it. */
  readonly retain?: Retain
}

/** Hash of everything that a verdict on `input` depends on; equal inputs in another order give the same hash. */
export function revisionSetOf(input: FleetInput): string {
  const { fleet } = input
  const config = (input.config ?? fleet.tree).entry(FLEET_FILE)
  // written as one list of JSON, piece by piece: of thousands of sources nearly all are written already
  const parts = [
    JSON.stringify(ENGINE_VERSION),
    JSON.stringify([normaliseUrl(fleet.url), fleet.branch, fleet.commit, fleet.tree.id]),
    `[${sourcesOf(input).join(',')}]`,
    JSON.stringify(input.opaque.map(o => [normaliseUrl(o.url), refKey(o.ref), o.reason].join(' ')).sort()),
    JSON.stringify(config?.id ?? ''),
    JSON.stringify([...(input.disabledRules ?? [])].sort()),
    ...(fleet.clusters?.length ? [JSON.stringify(fleet.clusters.map(({ name, path }) => [name, path]))] : []),
    ...(input.values ? [JSON.stringify(['values', input.values.digest])] : []),
    ...(input.access ? [JSON.stringify([input.access.facts, input.access.withheld ?? ''])] : []),
  ]
  return hash('sha256', `[${parts.join(',')}]`)
}

/** Every source in JSON, in the order of their texts. */
function sourcesOf({ sources }: FleetInput): string[] {
  const all = sources.map(writtenOf)
  const isSorted = all.every(({ text }, index) => index === 0 || all[index - 1]!.text <= text)
  if (!isSorted) all.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return all.map(({ json }) => json)
}

/** A source as text, and that in JSON; one that stays is written once. */
const writtenOf = oncePer((source: SourceContent) => {
  const text = [normaliseUrl(source.url), refKey(source.ref), revisionKey(source), source.tree.id].join(' ')
  return { text, json: JSON.stringify(text) }
})

type Revision = Pick<SourceContent, 'commit' | 'tag' | 'originRevision'>

/** Which content of a source it is, without the content. */
export function revisionOf({ commit, tag, originRevision }: Revision): Revision {
  return {
    commit,
    ...(tag === undefined ? {} : { tag }),
    ...(originRevision === undefined ? {} : { originRevision }),
  }
}

/** Text that differs for content of another revision, or of the same under another name. */
export const revisionKey = ({ commit, tag }: Revision): string => (tag === undefined ? commit : `${tag}@${commit}`)

/** What a fleet was before, so that a build that is not complete relaxes nothing of it. */
export interface Retain {
  /** Nodes by their keys: where one does not build as a whole, what it rendered then stays a fact. */
  readonly nodes: ReadonlyMap<string, FleetNode>
  /** Clusters by their names: where the root does not build as a whole, the flags of Flux stay. */
  readonly clusters: ReadonlyMap<string, Cluster>
  /** It is the base of a change: every tenant of it stays a tenant for this verdict. */
  readonly isCompared: boolean
  /** Keys of nodes of which no complete build was found: what they restricted is not known. */
  readonly unknown?: ReadonlySet<string>
  /** Of nodes that an earlier commit built: the commit since which they do not build. A working copy has none. */
  readonly since?: ReadonlyMap<string, string>
}

/** All of a fleet, for a change that is compared with it. The same for the same fleet. */
export const retainOf = oncePer((base: Fleet): Retain => {
  const nodes = nodesByKey(base.nodes)
  const clusters = new Map(base.clusters.map(cluster => [cluster.name, cluster]))
  return { nodes, clusters, isCompared: true }
})

/** Whether what a node restricts is not known: no commit built it, and neither did the state that a change is compared with. */
export function isUnknown(
  node: Parameters<typeof isIncomplete>[0] & { readonly key: string },
  retain?: Retain,
): boolean {
  if (!retain) return false
  return retain.unknown?.has(node.key) === true || (retain.nodes.get(node.key)?.unknown === true && isIncomplete(node))
}

type Failed = Pick<FleetNode, 'error' | 'holes' | 'source'>

/** Whether something else than before keeps a node from building as a whole. */
export function hasMoreCauses(node: Failed, before: FleetNode): boolean {
  if (isComplete(before)) return true
  const known = causesOf(before)
  return [...causesOf(node)].some(cause => !known.has(cause))
}

/**
 * Why a node did not build as a whole, without the lines and the node. Two builds of the same causes lack the same; what
 * one of them has and the other lacks was taken out by someone.
 */
function causesOf({ error, holes = [], source }: Failed): Set<string> {
  return new Set([
    ...(error ? [causeOf(error, '')] : []),
    ...holes.map(hole => causeOf(hole.error, hole.hides)),
    ...(source.opaque === undefined ? [] : [`opaque ${source.url}`]),
  ])
}

const causeOf = ({ code, message, origin }: BailiwickError, hides: string): string =>
  JSON.stringify([code, origin?.repository, origin?.file, message.replace(/\d+/g, '#'), hides])

/**
 * Incremented whenever the same input may give another verdict, by a change in a rule, the renderer or the graph. It is
 * part of every revision set, so no result of an older engine is ever applied by a newer one.
 */
export const ENGINE_VERSION = '6'
