import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'
import { kubernetesVersion } from '../../../fleet/model/kubernetes-version.ts'
import { NEWEST, VERSIONS } from '../../../schema/types-table.ts'

/** The version of Kubernetes with which objects of a cluster are compared. */
export interface ComparedVersion {
  readonly minor: number
  /** The version that the cluster runs, where the table does not hold it: it may serve kinds that went later. */
  readonly runs?: number
  /** The cluster certainly runs it: the fleet's file declares it, or objects of the platform say so. */
  readonly isCertain: boolean
}

/** As the fleet's file declares it, else as objects of the platform say, else the newest that is known. */
export function comparedVersion(
  config: Pick<FleetConfig, 'kubernetes'>,
  index: Pick<FleetIndex, 'derivedVersion'>,
  cluster: string,
): ComparedVersion {
  const minor = kubernetesVersion(config, cluster) ?? index.derivedVersion(cluster)
  if (minor === undefined) return { minor: NEWEST, isCertain: false }
  const [oldest = NEWEST] = VERSIONS
  // of a version that is not in the table the closest one is nearly right
  const known = Math.min(Math.max(minor, oldest), NEWEST)
  return known === minor ? { minor, isCertain: true } : { minor: known, runs: minor, isCertain: false }
}
