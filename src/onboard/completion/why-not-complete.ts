import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { canonical } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'

/**
 * Why a change with the added files would not be complete, or would change something else; undefined: the tenant is applied by
 * its own account, and every other object stays as the change has it. `cluster`: only there.
 */
export function whyNotComplete(
  now: Fleet,
  then: Fleet,
  { tenant, folder }: { readonly tenant: string; readonly folder: string },
  cluster?: string,
): string | undefined {
  const isLooked = (node: FleetNode) => cluster === undefined || node.cluster === cluster
  const own = then.nodes.find(
    node =>
      isLooked(node) &&
      node.tenant === tenant &&
      node.name === tenant &&
      node.kustomization.root.origin.file.startsWith(`${folder}/`),
  )
  const parent = then.nodes.find(({ key }) => key === own?.parent)
  if (!own?.identity.impersonated || !parent) return `no cluster applies ${tenant}`
  if (parent.error) return `${parent.key} would fail: ${parent.error.message}`
  for (const node of now.nodes) {
    if (node.error || !isLooked(node)) continue
    const other = then.nodes.find(({ key }) => key === node.key)
    if (!other) return `${node.key} would be gone`
    if (other.error && other.key !== own.key) return `${node.key} would fail: ${other.error.message}`
    const left = new Map(other.objects.map(object => [keyOf(object), object]))
    const changed = node.objects.find(object => {
      const same = left.get(keyOf(object))
      return !same || canonical(same.root) !== canonical(object.root)
    })
    if (changed) return `${display(idOf(changed))} would change`
  }
  return undefined
}

function keyOf(object: KubeObject): string {
  const { apiVersion, kind, namespace, name } = idOf(object)
  return JSON.stringify([apiVersion, kind, namespace, name])
}
