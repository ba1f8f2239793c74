import type { Authorize } from '../../cel/kubernetes/authorizer.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { isPlatform } from '../../facts/object-index.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { GivenInputs } from './given-inputs.ts'

/** What policies are, and what they may ask for beyond the request: the objects of one cluster and its RBAC. */
export interface AdmissionWorld {
  /** Policies of a kind, `<group>/<Kind>`: those that the platform renders. */
  policies(kind: string): readonly KubeObject[]
  /** Policies of a kind in a namespace, that the platform renders. */
  policiesIn(kind: string, namespace: string): readonly KubeObject[]
  object(kind: string, namespace: string, name: string): KubeObject | undefined
  objects(kind: string, namespace: string | undefined): readonly KubeObject[]
  readonly authorize: Authorize
  /** Present only in a policy test. */
  readonly given?: GivenInputs
}

/** Keeps what follows from a list of objects, as long as the list is the same. */
const lists = new WeakMap<readonly { readonly object: KubeObject }[], readonly KubeObject[]>()

/** The objects of one cluster of a fleet. */
export function worldOf(index: FleetIndex, cluster: string): AdmissionWorld {
  return {
    policies: kind => objectsOf(index.platformAnywhere(cluster, kind)),
    policiesIn: (kind, namespace) => objectsOf(index.platformRendered(cluster, kind, namespace)),
    object: (kind, namespace, name) => {
      const versions = index.versionsOf(cluster, kind, namespace, name)
      return (versions.findLast(isPlatform) ?? versions.at(-1))?.object
    },
    objects: (kind, namespace) =>
      objectsOf(
        namespace === undefined ? index.renderedAnywhere(cluster, kind) : index.rendered(cluster, kind, namespace),
      ),
    authorize: (user, request) => {
      const decision = index.authorizer(cluster).authorize(user, request)
      if (decision.allowed) {
        const { roleRef } = decision.grant.binding
        return { allowed: true, reason: `RBAC: allowed by ${roleRef.kind} "${roleRef.name}"` }
      }
      const [missing] = decision.unresolved
      if (missing)
        return {
          allowed: false,
          reason: '',
          unknown: `${missing.roleRef.kind} ${missing.roleRef.name} is not in the fleet`,
        }
      return { allowed: false, reason: '' }
    },
  }
}

function objectsOf(rendered: readonly { readonly object: KubeObject }[]): readonly KubeObject[] {
  const known = lists.get(rendered)
  if (known) return known
  const objects = rendered.map(({ object }) => object)
  lists.set(rendered, objects)
  return objects
}
