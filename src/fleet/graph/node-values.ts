import { BailiwickError } from '../../errors.ts'
import type { Variable } from '../../flux/substitute/variable.ts'
import type { FindVariableSource, SourceKind } from '../../flux/substitute/variable-source.ts'
import { plainVariable } from '../../flux/substitute/variable-source.ts'
import { at, isTrue, itemsOf, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import type { ReadData, ValueNeed } from '../model/cluster-values.ts'
import { type ValueIndex, valueId } from './value-index.ts'

/** One entry of a Kustomization's `substituteFrom`. */
export interface Need {
  readonly id: string
  readonly kind: SourceKind
  readonly name: string
  readonly optional: boolean
  readonly origin: Origin
}

/** What a Kustomization substitutes from; what is no proper entry is left to whoever renders it. */
export function needsOf(kustomization: KubeObject): readonly Need[] {
  const needs = known.get(kustomization) ?? readNeeds(kustomization)
  known.set(kustomization, needs)
  return needs
}

/** Objects never change, and each value that is substituted asks for the list. */
const known = new WeakMap<KubeObject, readonly Need[]>()

function readNeeds(kustomization: KubeObject): Need[] {
  const list = at(kustomization.root, ['spec', 'postBuild', 'substituteFrom'])
  const { namespace } = idOf(kustomization)
  return itemsOf(list).flatMap(item => {
    const kind = stringAt(item, ['kind'])
    const name = stringAt(item, ['name'])
    if ((kind !== 'ConfigMap' && kind !== 'Secret') || !name) return []
    const optional = at(item, ['optional'])
    const isOptional = isTrue(optional)
    return [{ id: valueId(kind, namespace, name), kind, name, optional: isOptional, origin: item.origin }]
  })
}

/** What has to be known before a Kustomization can be rendered and is not: one that is not optional where there is one. */
export function missingNeed(kustomization: KubeObject, values: ValueIndex): Need | undefined {
  const missing = needsOf(kustomization).filter(need => !values.has(need.id))
  return missing.find(need => !need.optional) ?? missing[0]
}

/** What a Kustomization substitutes from and git does not say all of; undefined: nothing. */
export function clusterNeeds(kustomization: KubeObject, values: ValueIndex): readonly ValueNeed[] | undefined {
  const needs = new Map<string, ValueNeed>()
  for (const { id, kind, name, optional } of needsOf(kustomization)) {
    if (values.isContested(id) || !values.isOfCluster(id)) continue
    needs.set(id, { kind, name, optional: optional && needs.get(id)?.optional !== false })
  }
  return needs.size === 0 ? undefined : [...needs.values()]
}

function variablesRead(data: ReadData, origin: Origin): Map<string, Variable> {
  const variable = (value: string | null): Variable =>
    value === null ? { value: '', origin, hidden: 'not-text' } : plainVariable(value, origin)
  return new Map([...data].map(([key, value]) => [key, variable(value)]))
}

/**
 * Finds values for a Kustomization. What it finds throws `graph-conflict` where two places say what a value is. What nothing
 * renders or declares is what only the cluster has: unknown values, unless the fleet's file forbids them. For a tenant that
 * holds for what is optional, too; of the platform what is optional counts as absent, as long as every variable is set or
 * has a default. Who may write the ConfigMap decides later. What was read on the cluster is what Flux finds there.
 */
export function findValues(
  kustomization: KubeObject,
  values: ValueIndex,
  tenant: string | undefined,
): FindVariableSource {
  const { namespace } = idOf(kustomization)
  const read = values.readFor(kustomization)?.objects
  const needs = new Map([...needsOf(kustomization)].reverse().map(need => [need.id, need]))
  return (kind, name) => {
    const id = valueId(kind, namespace, name)
    const need = needs.get(id)
    if (values.isContested(id)) throw contested(need!)
    const data = need && read?.get(id)
    if (data !== undefined) return data === null ? undefined : { variables: variablesRead(data, need!.origin) }
    const found = values.find(id)
    if (found || !need || (tenant === undefined && !values.allowsUndeclared)) return found
    const holders = [{ kind, namespace, name, key: '' }]
    const unknown = { value: '', origin: need.origin, hidden: 'opaque', undeclared: true, holders } as const
    const counts = tenant === undefined && need.optional ? 'unset' : 'rest'
    return { variables: new Map(), [counts]: unknown }
  }
}

/** Why values that were taken, or left out as absent, are not those of the cluster after all; asked when all is known. */
export function valuesError(kustomization: KubeObject, missed: ReadonlySet<string>, values: ValueIndex) {
  for (const need of needsOf(kustomization)) {
    if (values.isContested(need.id)) return contested(need)
    const isLate = missed.has(need.id) && values.has(need.id)
    if (!isLate && !values.isUnfounded(need.id)) continue
    const text = message`${codeWord('substituteFrom')}: only this Kustomization itself, or one that depends on it, renders ${part('object', need.id)}`
    return new BailiwickError('graph-conflict', text, {
      origin: need.origin,
      fix: 'Move it to another Kustomization, or declare it in .github/bailiwick.yaml.',
    })
  }
  return undefined
}

function contested({ id, origin }: Need): BailiwickError {
  return new BailiwickError(
    'graph-conflict',
    message`${part('object', id)}: rendered twice, or rendered and declared, with different values`,
    {
      origin,
      fix: 'Keep one of them.',
    },
  )
}
