import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import { at, canonical, isAbsent, type MapNode, type Node, withField, writtenText } from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import { STRICT, type Tolerance } from '../entry.ts'
import type { ReferenceRule } from '../fields/transformer-config.ts'
import { editField, type FieldSpec, fieldPathOf, specMatches } from '../resource/field-spec.ts'
import { NO_NAMESPACE, originalId, type Resource, type ResourceId, resourceOrigin } from '../resource/resource.ts'
import {
  type NameReference,
  ReferenceTargets,
  sameName,
  sameNameAndNamespace,
  selectReferral,
  type VisibleTargets,
  writtenNamespace,
} from './reference-targets.ts'

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

  /** A reference that is a map has name and namespace. */
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

/** A field that holds names of what a rule is about. */
interface ReferenceField {
  readonly rule: ReferenceRule
  readonly spec: FieldSpec
}

/** All of them of one kind, in the order in which kustomize looks at them. */
interface ReferenceFields {
  readonly fields: readonly ReferenceField[]
  /** Which of them an object has. */
  readonly trie: FieldTrie
}

/** More kinds than builds have; what comes after them is forgotten again. */
const MAX_KINDS = 1_000

/** The table of a list of rules; nearly every build has the same list. */
const referenceTable = oncePer((rules: readonly ReferenceRule[]): ReferenceTable => new ReferenceTable(rules))

/** Which fields of which kinds are references, found once per kind that occurs. */
class ReferenceTable {
  private readonly rules: readonly ReferenceRule[]
  private readonly known = new Map<string, ReferenceFields>()

  constructor(rules: readonly ReferenceRule[]) {
    this.rules = rules
  }

  fieldsOf(id: Pick<ResourceId, 'group' | 'version' | 'kind'>): ReferenceFields {
    const key = `${id.group}\0${id.version}\0${id.kind}`
    const known = this.known.get(key)
    if (known) return known
    const fields = this.rules.flatMap(rule =>
      // a reference is followed, never made
      rule.referrers.filter(spec => specMatches(spec, id)).map(({ path }) => ({ rule, spec: { path } })),
    )
    const found = { fields, trie: new FieldTrie(fields.map(({ spec }) => spec)) }
    if (this.known.size >= MAX_KINDS) this.known.clear()
    this.known.set(key, found)
    return found
  }
}

interface Branch {
  /** Places in the list of all specs of those that end here. */
  readonly ends: number[]
  readonly below: Map<string, Branch>
}

/**
 * The paths of many specs as one tree, to find in one walk which of them an object has. Most objects have few of the
 * fields that their kind may have.
 */
class FieldTrie {
  private readonly root: Branch = { ends: [], below: new Map() }
  /** Specs whose paths ask for more than fields by their names. */
  private readonly special: readonly number[]

  constructor(specs: readonly FieldSpec[]) {
    const special: number[] = []
    for (const [index, spec] of specs.entries()) {
      const path = fieldPathOf(spec)
      if (spec.create || path.some(part => part.isList || part.problem)) {
        special.push(index)
        continue
      }
      let branch = this.root
      for (const { name } of path) branch = childOf(branch, name)
      branch.ends.push(index)
    }
    this.special = special
  }

  /** Which specs may lead to something in `object`, by their places: the others certainly do not. */
  met(object: Node): ReadonlySet<number> {
    if (this.special.length === 0) return this.metIn(object) ?? NONE
    return new Set([...this.special, ...(this.metIn(object) ?? NONE)])
  }

  private metIn(object: Node): Set<number> | undefined {
    return collect(object, this.root, undefined)
  }
}

const NONE: ReadonlySet<number> = new Set()

function childOf(branch: Branch, name: string): Branch {
  const known = branch.below.get(name)
  if (known) return known
  const made: Branch = { ends: [], below: new Map() }
  branch.below.set(name, made)
  return made
}

function collect(node: Node, branch: Branch, found: Set<number> | undefined): Set<number> | undefined {
  let all = found
  for (const index of branch.ends) all = (all ?? new Set()).add(index)
  return branch.below.size === 0 ? all : collectBelow(node, branch, all)
}

/** What stands below a branch, in a map or in the maps of a list; a text is where every path below it fails. */
function collectBelow(node: Node, branch: Branch, found: Set<number> | undefined): Set<number> | undefined {
  let all = found
  if (isAbsent(node)) return all
  if (node.type === 'list') for (const item of node.items) all = collectBelow(item, branch, all)
  else if (node.type === 'scalar') for (const below of branch.below.values()) all = everything(below, all)
  else {
    for (const [name, below] of branch.below) {
      const value = node.fields.get(name)?.value
      if (value) all = collect(value, below, all)
    }
  }
  return all
}

function everything(branch: Branch, found: Set<number> | undefined): Set<number> {
  const all = found ?? new Set()
  for (const index of branch.ends) all.add(index)
  for (const below of branch.below.values()) everything(below, all)
  return all
}
