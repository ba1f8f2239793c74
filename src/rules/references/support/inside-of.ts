import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { internalHost } from '../../../kube/address/internal-host.ts'
import { KUBERNETES_NAMESPACES } from '../../../kube/names.ts'

/** What a host leads to inside of the cluster. */
interface Inside {
  readonly what: string
  /** The namespace of the service that it is; undefined: no service, such as a private address. */
  readonly namespace: string | undefined
}

/**
 * What a host leads to where that is inside of the cluster, its machine or its cloud, and no service of the tenant's own.
 * A single word counts only where it is clear that it is a host.
 */
export function insideOf(
  index: FleetIndex,
  cluster: string,
  tenant: string,
  host: string,
  isHost: boolean,
): Inside | undefined {
  const inside = internalHost(host)
  if (inside?.service) {
    const { namespace } = inside.service
    return index.owns(cluster, tenant, namespace) ? undefined : { what: inside.what, namespace }
  }
  if (inside) return isHost || /[.:\d]/.test(host) ? { what: inside.what, namespace: undefined } : undefined
  // The search list of a pod completes <service>.<namespace>.
  const [, namespace = '', more] = host.toLowerCase().replace(/\.$/, '').split('.')
  if (more !== undefined || namespace === '' || TOP_LEVEL.has(namespace)) return undefined
  const isKnown = STANDARD.has(namespace) || index.platformObject(cluster, '/Namespace', '', namespace) !== undefined
  return isKnown && !index.owns(cluster, tenant, namespace)
    ? { what: 'a service of the cluster', namespace }
    : undefined
}

/** Namespaces that clusters of Flux have, whether the fleet renders them or not. */
const STANDARD = new Set(['default', 'flux-system', ...KUBERNETES_NAMESPACES])

/** Whether it is a Service that the platform may share, as load testers and Prometheus are. */
export const isShareable = (to: Inside | undefined): boolean =>
  to?.namespace !== undefined && !STANDARD.has(to.namespace)

/** Top-level domains that are everyday names of namespaces, too. */
const TOP_LEVEL = new Set(
  'app build cloud codes dev digital email games global group media net network io ai one online org page run school services shop site solutions store studio support systems team tech technology tools top web website work works world zone'.split(
    ' ',
  ),
)
