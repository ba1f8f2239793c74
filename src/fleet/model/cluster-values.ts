import type { OpenedValues } from '../../flux/open-sealed.ts'
import type { SopsFormat } from '../../kube/sops-formats.ts'

/** What the data of a ConfigMap or Secret holds, by key; null for bytes that are no text. */
export type ReadData = ReadonlyMap<string, string | null>

/** What was read on a cluster for one Kustomization, as its account. Secret. */
export interface NodeValues {
  /** By `<Kind>/<namespace>/<name>`; null: the cluster has none. */
  readonly objects: ReadonlyMap<string, ReadData | null>
  /** Encrypted files of its source in clear, by path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** What is encrypted in its objects. */
  readonly sealed: OpenedValues
}

/** An encrypted patch, or an encrypted file that Secrets of a Kustomization are generated from. */
export interface SealedFile {
  /** In its source. */
  readonly path: string
  /** As which it is opened. */
  readonly format: SopsFormat
  /** As it is encrypted. */
  readonly text: string
}

/**
 * What only clusters have, read by whoever applies. With it, a fleet is built and evaluated once more before anything that
 * depends on it is applied.
 */
export interface ClusterValues {
  /** Keyed hash of all of it: others have another, and nobody can guess a value by it. */
  readonly digest: string
  /** By the key of the node. */
  readonly nodes: ReadonlyMap<string, NodeValues>
}

/** A ConfigMap or Secret in the namespace of a Kustomization that it substitutes from, whose values git does not say. */
export interface ValueNeed {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly optional: boolean
}
