import { groupOf, idOf, type KubeObject, type ObjectId } from '../kube/object.ts'

/** `<group>/<Kind>` of an object. */
export function kindOf(object: KubeObject): string {
  return kindOfId(idOf(object))
}

/** The same of its identity. */
export function kindOfId({ apiVersion, kind }: ObjectId): string {
  return `${groupOf(apiVersion)}/${kind}`
}
