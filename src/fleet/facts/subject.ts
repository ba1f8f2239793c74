import type { KubeObject, ObjectId } from '../../kube/object.ts'
import type { FleetNode } from '../model/fleet.ts'

/** An object as a rule sees it: what it is, and who would apply it. */
export interface Subject {
  readonly object: KubeObject
  readonly id: ObjectId
  /** `<group>/<Kind>`, as the table of scopes names kinds: `/Secret`, `apps/Deployment`. */
  readonly kind: string
  readonly node: FleetNode
}

/** An object that would be applied for a tenant. */
export interface TenantSubject extends Subject {
  readonly node: FleetNode & { readonly tenant: string }
}
