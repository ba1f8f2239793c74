import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { FleetInput } from '../fleet/model/input.ts'
import type { Tree } from '../git/tree.ts'

/** Which Kustomizations get an account of their own. */
export interface AdoptRequest {
  /** A tenant of the fleet, or the name of Kustomizations. */
  readonly name: string
  /** `<namespace>/<name>` of Kustomizations, instead of those that `name` means. */
  readonly kustomizations?: readonly string[]
  /** Name of the account; absent: `flux-<name>`. */
  readonly account?: string
}

/** One file of an adoption, with its whole new content. */
export interface AdoptedFile {
  readonly path: string
  readonly content: string
  readonly change: 'created' | 'edited'
}

/** A Kustomization of which each object is still allowed. */
export interface ProvenKustomization {
  readonly key: string
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly user: string
  readonly objects: number
  /** Requests that were evaluated. */
  readonly requests: number
}

/** A pull request that moves Kustomizations to an account of their own. */
export interface AdoptionPlan {
  readonly account: string
  /** Sorted by path. */
  readonly files: readonly AdoptedFile[]
  readonly proven: readonly ProvenKustomization[]
  /** Rights outside of namespaces, and rights to grant rights. */
  readonly loud: readonly string[]
  /** What stays as it is, and why. */
  readonly left: readonly string[]
}

/** A fleet, and how it would be with other content of its own repository. */
export interface AdoptableFleet {
  readonly fleet: Fleet
  readonly tree: Tree
  /** Normalized address of its repository. */
  readonly url: string
  /** The fleet with this tree instead of its own. */
  build(tree: Tree): Fleet
}

/** The same fleet from what one was built from, with other content of its own repository wherever that is read. */
export function inputWith(input: FleetInput, tree: Tree): FleetInput {
  const old = input.fleet.tree
  const sources = input.sources.map(source => (source.tree === old ? { ...source, tree } : source))
  return { ...input, fleet: { ...input.fleet, tree }, sources }
}

/** Where a Kustomization is written: `<file>:<line>`. */
export const writtenAt = ({ kustomization: { root } }: FleetNode): string => {
  const { repository, file, line } = root.origin
  return `${repository} ${file}:${line}`
}
