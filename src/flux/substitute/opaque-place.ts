import { BailiwickError } from '../../errors.ts'
import { type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import type { Origin } from '../../kube/origin.ts'

/** Fields that say what an object is, whose it is, what it follows or who applies it; and what may hold such fields. */
const IDENTITY = new Set(
  (
    'apiVersion kind namespace serviceAccountName serviceAccount subjects roleRef sourceRef chartRef url ' +
    'endpoint targetNamespace storageNamespace kubeConfig dependsOn accessFrom labels finalizers ownerReferences'
  ).split(' '),
)
const STRUCTURE = new Set(['metadata', 'spec', 'template', 'jobTemplate', 'annotations', 'items', 'containers'])

/** Names that people give to what they keep, not fields of the API: any word may stand there. */
const CONTENT: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['/ConfigMap', [['data'], ['binaryData']]],
  ['/Secret', [['data'], ['stringData']]],
  ['helm.toolkit.fluxcd.io/HelmRelease', [['spec', 'values']]],
  ['kustomize.toolkit.fluxcd.io/Kustomization', [['spec', 'postBuild', 'substitute']]],
])

function isContent(root: MapNode, path: readonly string[]): boolean {
  const kind = `${groupOf(stringAt(root, ['apiVersion']) ?? '')}/${stringAt(root, ['kind']) ?? ''}`
  const places = CONTENT.get(kind) ?? []
  return places.some(place => path.length > place.length && place.every((step, index) => step === path[index]))
}

/**
 * Throws `unrendered-variable` where a value that only the cluster has stands in an identity: there a verdict on the rest would
 * be about another object. Anywhere else the value is marked and nobody is misled.
 */
export function refuseOpaque(root: MapNode, path: readonly string[], origin: Origin): void {
  if (isContent(root, path)) return
  const last = path.at(-1) ?? ''
  const rbac = groupOf(stringAt(root, ['apiVersion']) ?? '') === 'rbac.authorization.k8s.io'
  const isName = path.length === 2 && path[0] === 'metadata' && last === 'name'
  const switches = last.includes('toolkit.fluxcd.io/')
  const isPath = path.length === 2 && path[0] === 'spec' && last === 'path'
  const hit = isPath || path.some(step => IDENTITY.has(step)) || STRUCTURE.has(last) || path.length === 0
  if (!hit && !isName && !switches && !(rbac && path[0] !== 'metadata')) return
  const message = `${path.join('.')} takes a value that only the cluster has, and decides what is applied where, or by whom`
  throw new BailiwickError('unrendered-variable', message, {
    origin,
    fix: 'Write it into the fleet, or declare its values in .github/bailiwick.yaml.',
  })
}
