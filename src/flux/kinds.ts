import { groupOf, idOf, type KubeObject } from '../kube/object.ts'

/** Where Flux's bootstrap puts its own objects. */
export const ROOT_NAMESPACE = 'flux-system'
export const ROOT_NAME = 'flux-system'

/** Whether an object is the Flux Kustomization that a cluster starts from: `root`, or that of bootstrap. */
export function isRoot(object: KubeObject, root?: KubeObject): boolean {
  const { namespace, name } = idOf(object)
  const wanted = root ? idOf(root) : { namespace: ROOT_NAMESPACE, name: ROOT_NAME }
  return isKustomization(object) && namespace === wanted.namespace && name === wanted.name
}

/** Whether an object is a Flux Kustomization, of any version. */
export function isKustomization(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return isKustomizationKind(groupOf(apiVersion), kind)
}

/** The same of its group and kind. */
export function isKustomizationKind(group: string, kind: string): boolean {
  return kind === 'Kustomization' && group === 'kustomize.toolkit.fluxcd.io'
}
