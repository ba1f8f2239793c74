import type { MapNode } from '../../kube/node.ts'

/** What a kustomization file says about itself, by its `kind`: also what it is taken for where it says nothing. */
export const API_VERSIONS: Readonly<Record<'Kustomization' | 'Component', string>> = {
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  Component: 'kustomize.config.k8s.io/v1alpha1',
}

/**
 * A kustomization file whose `apiVersion` is written in other letters (`apiversion`), spelled as it should be, where it
 * says what holds without it: whether a reader takes it for the field, as Go does, or passes over it, the file means the
 * same. Any other stays, to be refused.
 */
export function spellVersion(root: MapNode): MapNode {
  if (root.fields.has('apiVersion')) return root
  const [name, more] = [...root.fields.keys()].filter(key => key.toLowerCase() === 'apiversion')
  if (name === undefined || more !== undefined) return root
  const kind = root.fields.get('kind')?.value
  const isComponent = kind?.type === 'scalar' && kind.value === 'Component'
  const { value } = root.fields.get(name)!
  if (value.type !== 'scalar' || value.value !== API_VERSIONS[isComponent ? 'Component' : 'Kustomization']) return root
  const fields = [...root.fields].map(([key, field]) => [key === name ? 'apiVersion' : key, field] as const)
  return { ...root, fields: new Map(fields) }
}
