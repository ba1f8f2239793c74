import type { KubeObject } from '../../kube/object.ts'
import type { FleetNode } from '../model/fleet.ts'

/** A node while the graph is built: what later objects show about it may still become its error. */
export type Draft = { -readonly [K in keyof FleetNode]: FleetNode[K] }

/** A Kustomization that a node renders and that is to become a node. */
export interface Claim {
  readonly kustomization: KubeObject
  readonly parent: Draft
}
