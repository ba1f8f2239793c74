import { stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'

const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'

/** Whether an object asks Flux, by label or annotation, to leave its variables alone. */
export function isUnsubstituted({ root }: KubeObject): boolean {
  return ['labels', 'annotations'].some(field => stringAt(root, ['metadata', field, SWITCH]) === 'disabled')
}
