import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { Variable } from './variable.ts'
import { holderOf, plainVariable, type SourceKind } from './variable-source.ts'

/** `spec.postBuild` of a Flux Kustomization, checked as its CustomResourceDefinition does. */
export interface PostBuild {
  readonly always: boolean
  readonly substitute: ReadonlyMap<string, Variable>
  readonly substituteFrom: readonly SubstituteReference[]
}

/** One entry of `substituteFrom`. */
export interface SubstituteReference {
  readonly kind: SourceKind
  readonly name: string
  readonly optional: boolean
  readonly origin: Origin
}

const FIELDS = ['substituteStrategy', 'substitute', 'substituteFrom']

/** Reads `spec.postBuild`; undefined where there is none. Throws `flux-invalid` for what the API server refuses. */
export function readPostBuild(root: MapNode): PostBuild | undefined {
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
