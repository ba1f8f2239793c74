import type { BindingSource, GrantView } from '../access/grant-view.ts'
import { visible } from '../message/visible.ts'
import { placeOf } from '../report/text/place.ts'

/** `RoleBinding apps/x gives ClusterRole admin to User alice (tenants/rbac.yaml:3)`, on one line; files of the repository `here` without its address. */
export function grantText({ subject, binding, role, clusterWide, from }: GrantView, here: string): string {
  const everywhere = clusterWide ? ' in every namespace' : ''
  return visible(`${binding} gives ${role}${everywhere} to ${subject} (${sourceText(from, here)})`, 1000)
}

/** `ClusterRole admin in every namespace (tenants/rbac.yaml:3)`, where it is plain to whom. */
export function rightsText({ role, clusterWide, from }: GrantView, here: string): string {
  return visible(`${role}${clusterWide ? ' in every namespace' : ''} (${sourceText(from, here)})`, 1000)
}

/** What makes a binding, in a few words. */
function sourceText(from: BindingSource, here: string): string {
  if (from.by === 'fleet') return placeOf(from.origin, here) || from.kustomization
  if (from.by === 'flux') return "of Flux's own manifests, which are not in the fleet"
  return from.by === 'capsule' ? 'made by Capsule' : 'made by Kubernetes itself'
}

/** A grant as plain JSON. */
export function grantJson({ covered: _, from, ...grant }: GrantView) {
  if (from.by !== 'fleet') return { ...grant, from }
  const { repository, file, line, column } = from.origin
  const origin = { repository, file, line, column }
  return { ...grant, from: { by: from.by, kustomization: from.kustomization, origin } }
}
