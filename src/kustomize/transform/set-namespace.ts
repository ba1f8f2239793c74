import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, withField, withValueAt, writtenText } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Entry } from '../kustomization.ts'
import { isClusterScoped } from '../resource/cluster-scoped.ts'
import { currentId, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { editField, type FieldSpec, specMatches } from './field-spec.ts'

const SPECS: readonly FieldSpec[] = [
  { path: 'spec/service/namespace', group: 'apiregistration.k8s.io', kind: 'APIService', create: true },
  {
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
  },
]

/**
 * The `namespace` field: every object that kustomize does not know to be cluster-scoped goes there, a Namespace gets
 * that name, and so do subjects called `default`. Throws `kustomize-invalid` where two objects become one.
 */
export function setNamespace(resources: ResourceList, namespace: Entry): void {
  if (namespace.text === '') return
  const value = textNode(namespace.text, namespace.origin)
  for (const resource of resources.all) {
    resource.previous.push(currentId(resource))
    resource.root = moved(resource, value)
  }
  resources.reindex()
}

function moved(resource: Resource, value: Node): MapNode {
  let root = resource.root
  const id = currentId(resource)
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  if (!isClusterScoped(apiVersion, id.kind)) root = withValueAt(root, ['metadata', 'namespace'], value)
  if (apiVersion === 'v1' && id.kind === 'Namespace') root = withValueAt(root, ['metadata', 'name'], value)
  if (id.kind === 'RoleBinding' || id.kind === 'ClusterRoleBinding') root = moveSubjects(root, value)
  for (const spec of SPECS) {
    if (!specMatches(spec, id)) continue
    root = editField(root, spec, value.origin, node => {
      if (node === undefined || node.type === 'scalar') return value
      const message = `${spec.path} is no text`
      throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
    })
  }
  return root
}

function moveSubjects(root: MapNode, value: Node): MapNode {
  const subjects = at(root, ['subjects'])
  if (isAbsent(subjects)) return root
  if (subjects.type !== 'list') {
    throw new BailiwickError('kustomize-invalid', 'subjects is no list', { origin: subjects.origin })
  }
  const items = subjects.items.map(subject => {
    if (subject.type !== 'map') {
      throw new BailiwickError('kustomize-invalid', 'a subject is no map', { origin: subject.origin })
    }
    const name = subject.fields.get('name')?.value
    return writtenText(name) === 'default' ? withField(subject, 'namespace', value, value.origin) : subject
  })
  return withField(root, 'subjects', { ...subjects, items })
}
