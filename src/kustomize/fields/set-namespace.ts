import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, withField, writtenText } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { editField, specMatches } from '../resource/field-spec.ts'
import { NO_NAMESPACE, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'

const METADATA_NAMESPACE: FieldSpec = { path: 'metadata/namespace', create: true }
const BINDINGS = ['RoleBinding', 'ClusterRoleBinding']

/** How the transformer may be told to behave; the field `namespace` says none of it (NamespaceTransformer.go). */
export interface NamespaceOptions {
  /** Leave alone what has a namespace. */
  readonly unsetOnly?: boolean
  /** Which subjects of bindings move; `defaultOnly` where it is absent. */
  readonly subjects?: 'defaultOnly' | 'allServiceAccounts' | 'none'
}

/**
 * Every object that kustomize does not know to be cluster-scoped goes to the namespace, a Namespace gets that name, and
 * so do subjects called `default` and the other fields of `specs` (api/filters/namespace). Throws `kustomize-invalid`
 * where two objects become one.
 */
export function setNamespace(
  resources: ResourceList,
  namespace: Entry,
  specs: readonly FieldSpec[],
  options: NamespaceOptions = {},
): void {
  if (namespace.text === '') return
  const value = textNode(namespace.text, namespace.origin)
  const move = new Move(value, specs, options)
  for (const resource of resources.all) {
    resource.remember()
    resource.overwrite(move.moved(resource))
  }
  resources.checkUnique()
}

/** One namespace for many objects. */
class Move {
  private readonly value: Node
  private readonly specs: readonly FieldSpec[]
  private readonly options: NamespaceOptions

  constructor(value: Node, specs: readonly FieldSpec[], options: NamespaceOptions) {
    this.value = value
    this.specs = specs.filter(({ path }) => path !== METADATA_NAMESPACE.path)
    this.options = options
  }

  moved(resource: Resource): MapNode {
    const id = resource.current
    const isBinding = BINDINGS.includes(id.kind)
    const isCore = stringAt(resource.root, ['apiVersion']) === 'v1'
    let root = resource.root
    if (id.namespace !== NO_NAMESPACE) root = this.set(root, METADATA_NAMESPACE)
    if (isBinding) root = this.subjects(root)
    for (const spec of this.specs) {
      if (!specMatches(spec, id) || (spec.path === 'metadata/name' && !isCore)) continue
      if (BINDINGS.includes(spec.kind ?? '') && spec.path === 'subjects/namespace') continue
      root = this.set(root, spec)
    }
    return root
  }

  private set(root: MapNode, spec: FieldSpec): MapNode {
    return editField(root, spec, this.value.origin, node => this.over(node, spec.path))
  }

  private over(node: Node | undefined, path: string): Node {
    if (node !== undefined && node.type !== 'scalar') invalid(`${path}: not a string`, node)
    const isSet = !isAbsent(node) && writtenText(node) !== ''
    return this.options.unsetOnly && isSet ? node : this.value
  }

  private subjects(root: MapNode): MapNode {
    const subjects = at(root, ['subjects'])
    if (isAbsent(subjects) || this.options.subjects === 'none') return root
    if (subjects.type !== 'list') return invalid('subjects: not a list', subjects)
    const items = subjects.items.map(subject => this.subject(subject))
    if (items.every((item, index) => item === subjects.items[index])) return root
    return withField(root, 'subjects', { ...subjects, items })
  }

  private subject(subject: Node): Node {
    if (isAbsent(subject)) return subject
    if (subject.type !== 'map') return invalid('subjects: an item is not a map', subject)
    const [field, text] = this.options.subjects === 'allServiceAccounts' ? KIND : NAME
    const found = subject.fields.get(field)?.value
    if (isAbsent(found)) return subject
    if (found.type !== 'scalar') return invalid(`subjects: ${field} is not a string`, found)
    if (writtenText(found) !== text) return subject
    const namespace = this.over(subject.fields.get('namespace')?.value, 'namespace of a subject')
    return withField(subject, 'namespace', namespace, this.value.origin)
  }
}

const KIND = ['kind', 'ServiceAccount'] as const
const NAME = ['name', 'default'] as const

function invalid(message: string, node: Node): never {
  throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
}
