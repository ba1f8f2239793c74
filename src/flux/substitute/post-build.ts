import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { at, canonical, isAbsent, type MapNode, type Node, originAt, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import { STRICT, type Tolerance } from '../../kustomize/entry.ts'
import { idOfRoot } from '../../kustomize/resource/resource.ts'
import { substituteObject } from './substitute-object.ts'
import {
  type FindVariableSource,
  holderOf,
  plainVariable,
  type SourceKind,
  type SubstitutionBudget,
  type Variable,
  type VariableSource,
  type Variables,
} from './variables.ts'

/** What the cluster of a Kustomization says about substitution. */
export interface PostBuildFacts {
  /** What `substituteFrom` finds; without it nothing is there. */
  readonly findSource?: FindVariableSource
  /** Whether a variable that is not set is an error; true without it, as in Flux 2.9 and later. */
  readonly strict?: boolean
}

/** Label or annotation of an object in which nothing is substituted. */
const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'
const NAME = /^[_a-zA-Z][_a-zA-Z0-9]*$/

/**
 * Does what `spec.postBuild` of a Flux Kustomization says to the objects that kustomize built. Nothing happens without
 * variables, unless the strategy is Always; then `$$` stays too. Throws `flux-invalid`, `flux-missing-variable`,
 * `flux-unsupported` and `render-limits`.
 */
export function postBuild(
  objects: readonly KubeObject[],
  kustomization: MapNode,
  { findSource, strict = true }: PostBuildFacts,
  budget: SubstitutionBudget,
  tolerance: Tolerance = STRICT,
): readonly KubeObject[] {
  const written = at(kustomization, ['spec', 'postBuild'])
  const hides = () => (written ? canonical(written) : '')
  const spec = tolerance.attempt({ effect: 'different', hides }, () => readPostBuild(kustomization))
  if (!spec || !objects.some(isSubstituted)) return objects
  const source = variablesFor(spec, kustomization, findSource, tolerance)
  const { variables, rest, unset } = { ...source, variables: named(source.variables, tolerance) }
  if (variables.size === 0 && !rest && !spec.always) return objects
  const substitution = { variables, rest, unset, strict, budget }
  const ids = new Ids(objects)
  return objects.flatMap(object => {
    if (!isSubstituted(object)) return object
    const step = () => {
      const root = substituteObject(object.root, substitution)
      const made = root.made ? { made: root.made } : {}
      const substituted = root === object.root ? object : { ...object, root, ...made }
      ids.replace(object, substituted)
      return substituted
    }
    const all = () => JSON.stringify([canonical(object.root), ...valuesOf(variables)])
    return tolerance.attempt({ effect: 'missing', hides: all }, step) ?? []
  })
}

const valuesOf = (variables: Variables): string[] =>
  [...variables].map(([name, { value, hidden }]) => JSON.stringify([name, value, hidden ?? null])).sort()

/** Variables without those whose name Flux refuses. */
function named(variables: Variables, tolerance: Tolerance): Variables {
  const isNamed = ([name, { value, origin }]: readonly [string, Variable]) => {
    const check = () => [checkName(name, origin)]
    return tolerance.attempt({ effect: 'different', hides: () => JSON.stringify([name, value]) }, check)
  }
  return new Map([...variables].filter(isNamed))
}

/** Whether variables are substituted in an object; a label or annotation switches it off. */
const isSubstituted = ({ root }: KubeObject): boolean =>
  ['labels', 'annotations'].every(field => stringAt(root, ['metadata', field, SWITCH]) !== 'disabled')

/** Later sources win over earlier ones, and what the Kustomization says itself over all. */
function variablesFor(
  spec: PostBuild,
  kustomization: MapNode,
  findSource: FindVariableSource | undefined,
  tolerance: Tolerance,
): VariableSource {
  const variables = new Map<string, Variable>()
  let rest: Variable | undefined
  let unset: Variable | undefined
  for (const reference of spec.substituteFrom) {
    const { kind, name, optional } = reference
    const find = (): VariableSource => {
      const found = findSource?.(kind, name)
      if (!found && !optional) throw missing(reference)
      return found ?? NOTHING
    }
    const hides = () => JSON.stringify([kind, name])
    const found = tolerance.attempt({ effect: 'different', hides }, find) ?? unknown(reference, kustomization)
    // what may have any name may have those of before
    if (found.rest) variables.clear()
    rest = found.rest ?? rest
    unset = found.unset ?? unset
    for (const [key, variable] of found.variables) variables.set(key, variable)
  }
  for (const [name, variable] of spec.substitute) variables.set(name, variable)
  // without any variable Flux leaves every text as it is, so that there may be all of that or none of it
  if (unset && variables.size === 0 && !spec.always) rest ??= unset
  return { variables, ...(rest ? { rest } : {}), ...(unset ? { unset } : {}) }
}

const NOTHING: VariableSource = { variables: new Map() }

/** What is not there may have any variable. */
function unknown({ kind, name, origin }: SubstituteReference, kustomization: MapNode): VariableSource {
  const namespace = stringAt(kustomization, ['metadata', 'namespace']) ?? ''
  const holders = [{ kind, namespace, name, key: '' }]
  return { variables: new Map(), rest: { value: '', origin, hidden: 'opaque', undeclared: true, holders } }
}

function missing({ kind, name, origin }: SubstituteReference): BailiwickError {
  const message = `substituteFrom: the ${kind} ${name.slice(0, 300)} is neither rendered nor declared in the namespace of the Kustomization`
  return new BailiwickError('flux-missing-variable', message, {
    origin,
    fix: 'Add it to the fleet, declare it in .github/bailiwick.yaml, or set optional: true.',
  })
}

function checkName(name: string, origin: Origin): void {
  if (NAME.test(name)) return
  const shown = JSON.stringify(name.slice(0, 100))
  throw new BailiwickError('flux-invalid', `${shown}: not a valid variable name. Allowed: ${NAME.source}`, {
    origin,
    fix: 'Rename the key, or move it to another ConfigMap.',
  })
}

/** kustomize finds an object again by its identity, so no other may have it at that moment. */
class Ids {
  private readonly count = new Map<string, number>()

  constructor(objects: readonly KubeObject[]) {
    for (const object of objects) this.add(object, 1)
  }

  replace(before: KubeObject, after: KubeObject): void {
    this.add(before, -1)
    if (this.add(after, 1) === 1) return
    const message = `${display(idOf(after))}: after substitution, two objects have this name`
    const origin = originAt(after.root, ['metadata', 'name'])
    throw new BailiwickError('flux-invalid', message, { origin, fix: 'Rename one of the objects.' })
  }

  private add({ root }: KubeObject, amount: number): number {
    const key = JSON.stringify(Object.values(idOfRoot(root)))
    const count = (this.count.get(key) ?? 0) + amount
    this.count.set(key, count)
    return count
  }
}

/** `spec.postBuild` of a Flux Kustomization, checked as its CustomResourceDefinition does. */
interface PostBuild {
  readonly always: boolean
  readonly substitute: ReadonlyMap<string, Variable>
  readonly substituteFrom: readonly SubstituteReference[]
}

/** One entry of `substituteFrom`. */
interface SubstituteReference {
  readonly kind: SourceKind
  readonly name: string
  readonly optional: boolean
  readonly origin: Origin
}

const FIELDS = ['substituteStrategy', 'substitute', 'substituteFrom']

/** Reads `spec.postBuild`; undefined where there is none. Throws `flux-invalid` for what the API server refuses. */
function readPostBuild(root: MapNode): PostBuild | undefined {
  const node = at(root, ['spec', 'postBuild'])
  if (isAbsent(node)) return undefined
  if (node.type !== 'map') throw invalid('spec.postBuild: not a map', node.origin)
  for (const [name, { key }] of node.fields) {
    if (FIELDS.includes(name)) continue
    throw invalid(`spec.postBuild: unknown field ${name.slice(0, 100)}. Allowed: ${FIELDS.join(', ')}`, key)
  }
  const strategy = at(node, ['substituteStrategy'])
  const always = stringAt(strategy, [])
  if (!isAbsent(strategy) && always !== 'Always' && always !== 'WithVariables') {
    throw invalid('spec.postBuild.substituteStrategy: unknown value. Allowed: WithVariables or Always', strategy.origin)
  }
  return {
    always: always === 'Always',
    substitute: readSubstitute(at(node, ['substitute']), root),
    substituteFrom: readReferences(at(node, ['substituteFrom'])),
  }
}

function readSubstitute(node: Node | undefined, root: MapNode): Map<string, Variable> {
  const variables = new Map<string, Variable>()
  if (node === undefined) return variables
  if (node.type !== 'map') throw invalid('spec.postBuild.substitute: not a map', node.origin)
  for (const [name, { value }] of node.fields) {
    if (value.type !== 'scalar' || typeof value.value !== 'string') {
      throw invalid(`spec.postBuild.substitute.${name.slice(0, 100)}: not a string. Quote the value`, value.origin)
    }
    const isEncrypted = root.fields.has('sops') && value.value.startsWith('ENC[')
    const holders = value.opaque ?? (isEncrypted ? [holderOf(root, name)] : undefined)
    const variable = plainVariable(value.value, value.origin)
    variables.set(name, holders ? { ...variable, value: '', hidden: 'opaque', holders } : variable)
  }
  return variables
}

function readReferences(node: Node | undefined): SubstituteReference[] {
  if (node === undefined) return []
  if (node.type !== 'list') throw invalid('spec.postBuild.substituteFrom: not a list', node.origin)
  return node.items.map(item => {
    const kind = stringAt(item, ['kind'])
    const name = stringAt(item, ['name'])
    const optional = at(item, ['optional'])
    if (kind !== 'ConfigMap' && kind !== 'Secret') {
      throw invalid('spec.postBuild.substituteFrom: unknown kind. Allowed: ConfigMap or Secret', item.origin)
    }
    if (!name) throw invalid('spec.postBuild.substituteFrom: an entry has no name', item.origin)
    const value = optional?.type === 'scalar' ? optional.value : optional && 'no scalar'
    if (value !== undefined && value !== null && typeof value !== 'boolean') {
      throw invalid('spec.postBuild.substituteFrom: optional is not a boolean. Allowed: true or false', item.origin)
    }
    return { kind, name, optional: value === true, origin: item.origin }
  })
}

function invalid(message: string, origin: Origin): BailiwickError {
  return new BailiwickError('flux-invalid', message, { origin, fix: 'Correct the field.' })
}
