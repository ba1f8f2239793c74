import { memberSettings } from '../../../fleet/config/member-settings.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'
import { at } from '../../../kube/node.ts'
import type { PodRequirement, Standard } from './pod-demand.ts'
import type { Container } from './pod-parts.ts'
import { textOf } from './scalars.ts'

/** What a container that prepares a volume as root says beside `runAsUser: 0`: nothing of it adds to what any container has. */
const OF_ROOT: ReadonlySet<string> = new Set(['runAsUser=0', 'runAsNonRoot != true', 'non-default capabilities'])

/**
 * Whether a container runs to its end before the others start: a sidecar (`restartPolicy: Always`) does not. Such a
 * container as root, to `chown` a volume, is allowed by the Pod Security Standard "baseline" and common in charts.
 */
export function isSetUp({ path, node }: Container): boolean {
  return path.at(-2) === 'initContainers' && textOf(at(node, ['restartPolicy'])) !== 'Always'
}

/** Whether everything that a container breaks is that it runs as root, with the capabilities that containers have anyway. */
export function isOnlyRoot(
  faults: readonly { readonly standard: Standard; readonly reason: PodRequirement['reason'] }[],
): boolean {
  return faults.every(({ standard, reason }) => standard === 'restricted' && OF_ROOT.has(reason))
}

/** What the fleet says of it: nothing where it declares `baseline`, a warning where it declares no profile. */
export function levelOfRootSetUp(config: FleetConfig, tenant: string): 'violation' | 'warning' | 'allowed' {
  const ofAll = config.profileDeclared ? config.profile : undefined
  const declared = memberSettings(config, tenant).map(one => one?.profile ?? ofAll)
  if (declared.includes('restricted')) return 'violation'
  return declared.includes(undefined) ? 'warning' : 'allowed'
}
