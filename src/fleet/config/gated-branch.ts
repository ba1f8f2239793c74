import { normaliseUrl } from '../../kube/url.ts'
import type { FleetConfig } from '../model/fleet-config.ts'

/** Whether the fleet says that a branch requires our check. */
export function isGatedBranch({ gatedBranches }: FleetConfig, url: string, branch: string): boolean {
  const address = normaliseUrl(url)
  return gatedBranches.some(one => one.url === address && one.branch === branch)
}
