import type { MapNode } from '../../kube/node.ts'
import type { FieldDocs, KustomizationField } from './field.ts'
import { invalid, textField } from './read-fields.ts'

/** What a kustomization file says about itself, by its `kind`: also what it is taken for where it says nothing. */
const API_VERSIONS = {
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  Component: 'kustomize.config.k8s.io/v1alpha1',
} as const

const docs: FieldDocs = {
  built: '`Kustomization` (`v1beta1`) and `Component` (`v1alpha1`), or neither',
  refused: 'any other value',
}

/** What it has to be follows from the kind. */
export const apiVersion: KustomizationField<undefined> = {
  goType: '=string',
  effect: 'itself',
  read: root => {
    const name = kind.read(root, '')
    const entry = textField(root, 'apiVersion')
    if (entry?.text && entry.text !== API_VERSIONS[name]) {
      invalid(`apiVersion: not valid for a ${name}. Allowed: ${API_VERSIONS[name]}`, entry.origin)
    }
  },
  docs,
}

export const kind: KustomizationField<keyof typeof API_VERSIONS> = {
  goType: '=string',
  effect: 'itself',
  read: root => {
    const entry = textField(root, 'kind')
    const name = entry?.text || 'Kustomization'
    if (name === 'Kustomization' || name === 'Component') return name
    return invalid('kind: unknown. Allowed: Kustomization or Component', entry!.origin)
  },
  docs,
}

/**
 * A kustomization file whose `apiVersion` is written in other upper or lower case (`apiversion`), spelled as it should be, where it
 * says what holds without it: whether a reader takes it for the field, as Go does, or passes over it, the file means the
 * same. Any other stays, to be refused.
 */
export function spellVersion(root: MapNode): MapNode {
  if (root.fields.has('apiVersion')) return root
  const [name, more] = [...root.fields.keys()].filter(key => key.toLowerCase() === 'apiversion')
  if (name === undefined || more !== undefined) return root
  const kindNode = root.fields.get('kind')?.value
  const isComponent = kindNode?.type === 'scalar' && kindNode.value === 'Component'
  const { value } = root.fields.get(name)!
  if (value.type !== 'scalar' || value.value !== API_VERSIONS[isComponent ? 'Component' : 'Kustomization']) return root
  const fields = [...root.fields].map(([key, field]) => [key === name ? 'apiVersion' : key, field] as const)
  return { ...root, fields: new Map(fields) }
}
