import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'
import { kubernetesVersion } from '../../../fleet/model/kubernetes-version.ts'
import { NEWEST, VERSIONS } from '../../../schema/types-table.ts'

/** The version of Kubernetes whose types objects of a cluster are compared with, and of Flux. */
export interface ComparedVersion {
  readonly minor: number
  /** The cluster's own version if the table does not have it; the cluster may serve kinds that later versions removed. */
  readonly runs?: number
  /** Whether the cluster certainly runs this version, because the fleet's file or objects of the platform declare it. */
  readonly isCertain: boolean
  /** The version of the cluster's Flux as it is written; undefined where that is not visible. */
  readonly flux?: string | undefined
}

/** The version from the fleet's file, else from objects of the platform, else the newest known version. */
export function comparedVersion(
  config: Pick<FleetConfig, 'kubernetes'>,
  index: Pick<FleetIndex, 'derivedVersion' | 'cluster'>,
  cluster: string,
): ComparedVersion {
  const flux = index.cluster(cluster)?.lockdown.flux?.version
  const minor = kubernetesVersion(config, cluster) ?? index.derivedVersion(cluster)
  if (minor === undefined) return { minor: NEWEST, isCertain: false, flux }
  const [oldest = NEWEST] = VERSIONS
  // for a version that is not in the table, the closest one is a good approximation
  const known = Math.min(Math.max(minor, oldest), NEWEST)
  return known === minor ? { minor, isCertain: true, flux } : { minor: known, runs: minor, isCertain: false, flux }
}
