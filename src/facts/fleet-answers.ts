import type { ChartPart } from '../fleet/charts/chart-parts.ts'
import type { Aliases } from '../fleet/model/address-in.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import type { ClusterFacts } from './facts.ts'
import type { ObjectIndex } from './object-index.ts'

/** What the parts of the index of a fleet ask of the whole: see FleetIndex, which answers. */
export interface FleetAnswers extends ObjectIndex {
  aliases(): Aliases
  cluster(name: string): ClusterFacts | undefined
  clusters(): readonly string[]
  ownerOf(cluster: string, namespace: string): string | undefined
  namespacesOf(cluster: string, tenant: string): readonly string[]
  capsuleHomes(cluster: string): ReadonlyMap<string, readonly string[]>
  authorizer(cluster: string): Authorizer
  chartParts(node: string, release: KubeObject): readonly ChartPart[] | 'too-much' | undefined
}
