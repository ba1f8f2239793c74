import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField, writtenText } from '../../kube/edit-node.ts'
import { at, canonical, type MapNode, type Node } from '../../kube/node.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import { STRICT, type Tolerance } from '../model/tolerance.ts'
import { editField } from '../resource/field-spec.ts'
import { NO_NAMESPACE, originalId, type Resource, resourceOrigin } from '../resource/resource.ts'
import type { ReferenceRule } from './reference-fields.ts'
import { referenceTable } from './reference-table.ts'
import { ReferenceTargets, type VisibleTargets, writtenNamespace } from './reference-targets.ts'
import { type NameReference, sameName, sameNameAndNamespace, selectReferral } from './select-referral.ts'

/**
 * Lets references follow objects whose name or namespace a build has changed (namereferencetransformer.go, 5.8.1). A
 * reference that is changed stands where the new name was written. Throws `kustomize-invalid` where more than one object
 * could be meant, and where a field of references holds what can be none.
 */
export function fixReferences(
  resources: readonly Resource[],
  rules: readonly ReferenceRule[],
  budget: BuildBudget,
  tolerance: Tolerance = STRICT,
): void {
  const table = referenceTable(rules)
  const targets = new ReferenceTargets(resources)
  for (const referrer of resources) {
    const { root } = referrer
    const save = () => () => {
      referrer.root = root
    }
    const hides = () => canonical(root)
    tolerance.attempt({ effect: 'different', hides, depends: true, changes: { save } }, () =>
      fixReferrer(referrer, table, targets, budget),
    )
  }
}

function fixReferrer(
  referrer: Resource,
  table: ReturnType<typeof referenceTable>,
  targets: ReferenceTargets,
  budget: BuildBudget,
): void {
  const { fields, trie } = table.fieldsOf(originalId(referrer))
  if (fields.length === 0) return
  const origin = resourceOrigin(referrer)
  budget.spend('steps', fields.length, origin)
  const before = referrer.current
  const { root } = referrer
  const met = trie.met(root)
  const seen = targets.seenBy(referrer)
  if (met.size === 0) return
  for (let index = 0; index < fields.length; index++) {
    // a reference that is fixed may get a field that it had not
    if (referrer.root === root && !met.has(index)) continue
    const { rule, spec } = fields[index]!
    const fixing = new Fixing({ referrer, rule, path: spec.path }, seen, budget)
    referrer.root = editField(referrer.root, spec, origin, node => fixing.value(node!))
  }
  if (referrer.current === before) return
  const message = 'an object refers to its own name, and kustomize renames it in random order. This is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin })
}

/** One field of one referrer. */
class Fixing {
  private readonly reference: NameReference
  private readonly seen: VisibleTargets
  private readonly budget: BuildBudget

  constructor(reference: NameReference, seen: VisibleTargets, budget: BuildBudget) {
    this.reference = reference
    this.seen = seen
    this.budget = budget
  }

  value(node: Node): Node {
    if (node.type !== 'list') return this.one(node)
    const items = node.items.map(item => (item.type === 'list' ? this.fail('a nested list', item) : this.one(item)))
    return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node
  }

  private one(node: Node): Node {
    if (isAbsent(node)) return node
    return node.type === 'map' ? this.mapping(node) : this.scalar(node)
  }

  private scalar(node: Node): Node {
    const old = writtenText(node)
    const target = selectReferral(this.reference, this.called(old, node), node.origin, sameName)
    return target && target.current.name !== old ? nameFor(target, node) : node
  }

  /** A reference that is a map says name and namespace. */
  private mapping(node: MapNode): Node {
    const nameNode = node.fields.get('name')?.value
    if (nameNode === undefined) return this.fail('a map without a name', node)
    const old = writtenText(nameNode)
    const called = this.inNamespace(this.called(old, nameNode), node)
    const target = selectReferral(this.reference, called, nameNode.origin, sameNameAndNamespace)
    if (!target) return node
    const isSame = nameNode.type === 'scalar' && nameNode.value === target.current.name
    const renamed = isSame ? node : withField(node, 'name', nameFor(target, nameNode))
    return withNamespaceOf(target, renamed)
  }

  private called(name: string, node: Node): readonly Resource[] {
    const called = this.seen.called(name)
    this.budget.spend('steps', 1 + called.length, node.origin)
    return called
  }

  /** First namespaces count before those of now, as long as anything was there at first. */
  private inNamespace(called: readonly Resource[], node: MapNode): readonly Resource[] {
    const field = node.fields.get('namespace')?.value
    if (field === undefined) return called
    const namespace = writtenText(field)
    if (namespace === NO_NAMESPACE) return []
    if (this.seen.hasOriginal(namespace)) return called.filter(target => originalId(target).namespace === namespace)
    return called.filter(target => target.current.namespace === namespace)
  }

  private fail(what: string, node: Node): never {
    const message = `${this.reference.path}: contains ${what}, not a name`
    throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
  }
}

function withNamespaceOf(target: Resource, node: MapNode): MapNode {
  const text = writtenNamespace(target)
  const namespace = at(target.root, ['metadata', 'namespace'])
  const before = node.fields.get('namespace')?.value
  if (!namespace || text === '' || (before?.type === 'scalar' && before.value === text)) return node
  return withField(node, 'namespace', followed(namespace, before ?? node))
}

const nameFor = (target: Resource, node: Node): Node => followed(at(target.root, ['metadata', 'name'])!, node)

/** What stands in `from` now came there by the reference that stood there. */
function followed(value: Node, from: Node): Node {
  const { file, line } = from.origin
  const via = [...(value.origin.via ?? []), { step: 'reference', file, line } as const]
  return { ...value, origin: { ...value.origin, via } }
}
