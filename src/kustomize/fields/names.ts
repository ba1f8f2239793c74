import { BailiwickError } from '../../base/errors.ts'
import {
  at,
  isAbsent,
  type MapNode,
  type Node,
  type ScalarNode,
  stringAt,
  textNode,
  withField,
  writtenText,
} from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Entry } from '../entry.ts'
import { editField, type FieldSpec, specMatches } from '../resource/field-spec.ts'
import { NO_NAMESPACE, originalId, type Resource } from '../resource/resource.ts'
import type { ResourceList } from '../resource/resource-list.ts'
import { toPlain } from '../resource/round-trip.ts'
import { type FieldDocs, type TransformingField, textField } from './field.ts'

/** Kinds whose name the cluster itself gives a meaning (PrefixTransformer.go, 5.8.1). */
const KEPT: readonly FieldSpec[] = [
  { path: '', kind: 'CustomResourceDefinition' },
  { path: '', kind: 'APIService', group: 'apiregistration.k8s.io' },
  { path: '', kind: 'Namespace' },
]

const NAME = 'metadata/name'

const docs: FieldDocs = {
  built:
    'names, and references to renamed objects (the default `nameReference` rows), distinguished by affixes and namespaces',
  refused: 'names with a comma; names that would be numbers; a reference of an object to its own name',
}

export const namePrefix: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'namePrefix'),
  apply: (resources, value, { config, budget }) => {
    if (!value?.text) return
    budget.spendOnRenaming(resources.all, value.origin)
    affixNames(resources, value, 'prefixes', config.namePrefix)
  },
  docs,
}

export const nameSuffix: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'nameSuffix'),
  apply: (resources, value, { config, budget }) => {
    if (!value?.text) return
    budget.spendOnRenaming(resources.all, value.origin)
    affixNames(resources, value, 'suffixes', config.nameSuffix)
  },
  docs,
}

/**
 * Puts a text before or after what the fields hold, names first of all. The current name and the affix stay known: they
 * tell references apart. Throws `kustomize-invalid` where a field holds no scalar.
 */
export function affixNames(
  resources: ResourceList,
  affix: Entry,
  side: 'prefixes' | 'suffixes',
  specs: readonly FieldSpec[],
): void {
  // kustomize keeps it among the annotations, too
  toPlain(textNode(affix.text, affix.origin))
  for (const resource of resources.all) {
    const id = originalId(resource)
    if (KEPT.some(spec => specMatches(spec, id))) continue
    for (const spec of specs) {
      if (!specMatches(spec, id)) continue
      // kustomize keeps affixes as one text with commas between them
      if (spec.path === NAME) {
        for (const one of affix.text.split(',')) resource[side].push(one)
        resource.remember()
      }
      affixField(resource, affix, side, spec)
    }
  }
}

/** The kind that a field belongs to is that of now, though what is to be renamed goes by the first one. */
function affixField(resource: Resource, affix: Entry, side: 'prefixes' | 'suffixes', spec: FieldSpec): void {
  if (!specMatches(spec, resource.current)) return
  const root = editField(resource.root, spec, affix.origin, (node, origin) => {
    if (node === undefined && resolvePlain(affix.text) === affix.text) {
      return { type: 'scalar', value: affix.text, origin, untyped: true }
    }
    if (node === undefined) {
      const message = `${spec.path}: the affix makes it ${JSON.stringify(affix.text)}, which is not a string without quotes`
      throw new BailiwickError('kustomize-unsupported', message, { origin })
    }
    if (node.type === 'scalar') return affixed(node, affix, side, spec)
    const message = `${spec.path}: not a string, so kustomize cannot add a ${side === 'prefixes' ? 'prefix' : 'suffix'}`
    throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
  })
  resource.overwrite(root)
}

/** kustomize leaves it to the new text whether it is one: a name that becomes a number is not a name any more. */
function affixed(node: ScalarNode, affix: Entry, side: 'prefixes' | 'suffixes', spec: FieldSpec): Node {
  const before = writtenText(node)
  const text = side === 'prefixes' ? affix.text + before : before + affix.text
  const isText = node.quoted || node.style !== undefined || (!isAbsent(node) && resolvePlain(text) === text)
  if (!isText || text === '') {
    const message = `${spec.path}: the affix makes it ${JSON.stringify(text)}, which is not a string without quotes`
    throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin, fix: 'Quote the name.' })
  }
  const { file, line } = affix.origin
  // the name stays the one that was written; the affix is what it came through
  const origin = { ...node.origin, via: [...(node.origin.via ?? []), { step: 'transformer', file, line } as const] }
  return { type: 'scalar', value: text, origin, ...(node.quoted || node.style ? { quoted: true } : { untyped: true }) }
}

export const namespace: TransformingField<Entry | undefined> = {
  goType: 'string',
  effect: 'changes',
  toEach: true,
  read: root => textField(root, 'namespace'),
  apply: (resources, value, { config, budget }) => {
    if (!value) return
    budget.spendOnRenaming(resources.all, value.origin)
    setNamespace(resources, value, config.namespace)
  },
  docs: { built: 'objects, subjects named `default`, references to moved objects' },
}

const METADATA_NAMESPACE: FieldSpec = { path: 'metadata/namespace', create: true }
const BINDINGS = ['RoleBinding', 'ClusterRoleBinding']

/** How the transformer may be configured; the field `namespace` sets none of it (NamespaceTransformer.go). */
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
    const [field, text] = this.options.subjects === 'allServiceAccounts' ? KIND : NAMESPACE_NAME
    const found = subject.fields.get(field)?.value
    if (isAbsent(found)) return subject
    if (found.type !== 'scalar') return invalid(`subjects: ${field} is not a string`, found)
    if (writtenText(found) !== text) return subject
    const namespace = this.over(subject.fields.get('namespace')?.value, 'namespace of a subject')
    return withField(subject, 'namespace', namespace, this.value.origin)
  }
}

const KIND = ['kind', 'ServiceAccount'] as const
const NAMESPACE_NAME = ['name', 'default'] as const

function invalid(message: string, node: Node): never {
  throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
}
