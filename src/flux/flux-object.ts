import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { KUSTOMIZATION, ROOT_NAME, ROOT_NAMESPACE } from './kinds.ts'

/** Whether an object is of a kind (`<group>/<Kind>`), of any version. */
export function isOfKind(object: KubeObject, name: string): boolean {
  const { apiVersion, kind } = idOf(object)
  return `${groupOf(apiVersion)}/${kind}` === name
}

/** Whether an object is the Flux Kustomization that a cluster starts from: `root`, or that of bootstrap. */
export function isRoot(object: KubeObject, root?: KubeObject): boolean {
  const { namespace, name } = idOf(object)
  const wanted = root ? idOf(root) : { namespace: ROOT_NAMESPACE, name: ROOT_NAME }
  return isKustomization(object) && namespace === wanted.namespace && name === wanted.name
}

/** Whether an object is a Flux Kustomization, of any version. */
export function isKustomization(object: KubeObject): boolean {
  return isOfKind(object, KUSTOMIZATION)
}

/** The same of its group and kind. */
export function isKustomizationKind(group: string, kind: string): boolean {
  return `${group}/${kind}` === KUSTOMIZATION
}
