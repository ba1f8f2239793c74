import type { FleetConfig } from './fleet-config.ts'

/** The minor version of Kubernetes that the fleet declares for a cluster: its own entry before the one of all clusters. */
export function kubernetesVersion(
  { kubernetes }: Pick<FleetConfig, 'kubernetes'>,
  cluster: string,
): number | undefined {
  const own = kubernetes.find(one => one.cluster === cluster)
  return (own ?? kubernetes.find(one => one.cluster === undefined))?.version
}
