import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField, writtenText } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { allIds, currentId, describe, NO_NAMESPACE, originalId, type Resource } from '../resource/resource.ts'
import { editField, type FieldSpec, specMatches } from '../transform/field-spec.ts'
import { blankNamespaces, mayRefer } from './may-refer.ts'
import { REFERENCE_RULES, type ReferenceRule } from './reference-fields.ts'

/**
 * Lets references follow objects whose name or namespace a build has changed. A reference that is changed stands where
 * the new name was written. Throws `kustomize-invalid` where more than one object could be meant.
 */
export function fixReferences(resources: readonly Resource[]): void {
  const changed = resources.filter(resource => resource.previous.length > 0)
  for (const resource of resources) blankNamespaces(resource)
  if (changed.length === 0) return
  // what an object was called before does not change here, so who a rule is about is asked once, not per referrer
  const rules = REFERENCE_RULES.map(rule => ({ rule, candidates: changed.filter(target => wasMeant(rule, target)) }))
  const active = rules.filter(({ candidates }) => candidates.length > 0)
  for (const referrer of resources) {
    const id = originalId(referrer)
    for (const { rule, candidates } of active) {
      for (const spec of rule.referrers) {
        if (specMatches(spec, id)) new Fixing(referrer, spec, candidates).run()
      }
    }
  }
}

function wasMeant(rule: ReferenceRule, target: Resource): boolean {
  const past = allIds(target).slice(0, -1)
  return past.some(id => specMatches(ruleSpec(rule), id))
}

const ruleSpec = (rule: ReferenceRule): FieldSpec => ({ ...rule, path: '' })

/** One field of one referrer. */
class Fixing {
  private readonly referrer: Resource
  private readonly spec: FieldSpec
  private readonly candidates: readonly Resource[]

  constructor(referrer: Resource, spec: FieldSpec, candidates: readonly Resource[]) {
    this.referrer = referrer
    this.spec = spec
    this.candidates = candidates.filter(target => mayRefer(referrer, target))
  }

  run(): void {
    const { spec, referrer } = this
    referrer.root = editField(referrer.root, { path: spec.path }, referrer.root.origin, node => this.value(node!))
  }

  private value(node: Node): Node {
    if (isAbsent(node)) return node
    if (node.type === 'list') return { ...node, items: node.items.map(item => this.value(item)) }
    return node.type === 'map' ? this.mapping(node) : this.scalar(node)
  }

  private scalar(node: Node): Node {
    const target = this.find(writtenText(node), this.candidates, node.origin, sameName)
    const name = target && nameOf(target)
    return !name || writtenText(name) === writtenText(node) ? node : name
  }

  private mapping(node: MapNode): Node {
    const nameNode = node.fields.get('name')?.value
    if (nameNode === undefined) return fail(`${this.spec.path} has no name`, node.origin)
    const old = writtenText(nameNode)
    const target = this.find(old, this.inNamespace(node), nameNode.origin, sameNameAndNamespace)
    if (!target) return node
    const name = nameOf(target)
    const namespace = at(target.root, ['metadata', 'namespace'])
    const renamed = writtenText(name) === old ? node : withField(node, 'name', name)
    return !namespace || writtenText(namespace) === '' || isAbsent(namespace)
      ? renamed
      : withNamespace(renamed, namespace)
  }

  private inNamespace(node: MapNode): readonly Resource[] {
    const field = node.fields.get('namespace')?.value
    if (isAbsent(field)) return field === undefined ? this.candidates : []
    const namespace = writtenText(field)
    if (namespace === NO_NAMESPACE) return []
    const first = this.candidates.filter(target => originalId(target).namespace === namespace)
    return first.length > 0 ? first : this.candidates.filter(target => currentId(target).namespace === namespace)
  }

  private find(name: string, from: readonly Resource[], origin: Origin, same: Same): Resource | undefined {
    const found = from.filter(target => {
      const past = allIds(target).slice(0, -1)
      return past.some(id => id.name === name) && this.roleMatches(past) && this.seesNamespaceOf(target)
    })
    const [first, ...others] = found
    if (!first || others.every(other => same(first, other))) return first
    const names = found.map(target => describe(currentId(target))).join(', ')
    return fail(`${JSON.stringify(name)} could mean each of ${names}`, origin)
  }

  /** A roleRef names the kind that it means. */
  private roleMatches(past: readonly { group: string; version: string; kind: string }[]): boolean {
    if (!this.spec.path.endsWith('roleRef/name')) return true
    const group = at(this.referrer.root, ['roleRef', 'apiGroup'])
    const kind = at(this.referrer.root, ['roleRef', 'kind'])
    if (isAbsent(group) || isAbsent(kind)) return true
    return past.some(id => specMatches({ path: '', group: writtenText(group), kind: writtenText(kind) }, id))
  }

  private seesNamespaceOf(target: Resource): boolean {
    const own = currentId(this.referrer).namespace
    const other = currentId(target).namespace
    return own === NO_NAMESPACE || other === NO_NAMESPACE || own === other || kindOf(target) === 'ServiceAccount'
  }
}

type Same = (a: Resource, b: Resource) => boolean

const kindOf = (resource: Resource): string => stringAt(resource.root, ['kind']) ?? ''
const nameOf = (resource: Resource): Node => at(resource.root, ['metadata', 'name'])!
const sameName: Same = (a, b) => writtenText(nameOf(a)) === writtenText(nameOf(b))
const sameNameAndNamespace: Same = (a, b) =>
  sameName(a, b) && stringAt(a.root, ['metadata', 'namespace']) === stringAt(b.root, ['metadata', 'namespace'])

function withNamespace(node: MapNode, namespace: Node): MapNode {
  const before = node.fields.get('namespace')?.value
  if (before && writtenText(before) === writtenText(namespace)) return node
  return withField(node, 'namespace', namespace)
}

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `a reference cannot follow: ${message}`, { origin })
}
