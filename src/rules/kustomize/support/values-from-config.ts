import { BailiwickError } from '../../../errors.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Subject } from '../../../facts/subject.ts'
import { HELM_RELEASE } from '../../../flux/kinds.ts'
import type { ValueHolder } from '../../../kube/node.ts'
import { at, type Node, type Path, type ScalarNode, stringAt } from '../../../kube/node.ts'
import { parseDocuments } from '../../../kube/yaml/parse-documents.ts'
import type { Origin } from '../../../origin.ts'
import { isRuledValue } from '../../workloads/helm-values-privileged.ts'
import { everyPath } from '../../workloads/support/every-path.ts'

/** A value of an object that only the cluster has. */
export interface UnknownValue {
  readonly path: Path
  /** Where it is written, if that is not the field. */
  readonly origin?: Origin
  /** Where the values in it lie; empty for one that SOPS encrypted in the object itself. */
  readonly holders: readonly ValueHolder[]
}

/**
 * Unknown values that a HelmRelease reads from rendered ConfigMaps and Secrets (`spec.valuesFrom`) and that are more than a
 * plain value of the chart without a rule: the data of these is inert only as long as nobody interprets it.
 */
export function valuesFromConfig({ object, kind, id, node }: Subject, index: FleetIndex): UnknownValue[] {
  if (kind !== HELM_RELEASE) return []
  return everyPath(object.root, ['spec', 'valuesFrom', '*']).flatMap(path => {
    const from = at(object.root, path)
    const source = stringAt(from, ['kind'])
    if (source !== 'ConfigMap' && source !== 'Secret') return []
    const key = stringAt(from, ['valuesKey']) || 'values.yaml'
    const target = stringAt(from, ['targetPath'])
    const versions = index.versionsOf(node.cluster, `/${source}`, id.namespace, stringAt(from, ['name']) ?? '')
    return versions.flatMap(({ object: holder }): UnknownValue[] => {
      const data = at(holder.root, ['data', key])
      if (data?.type !== 'scalar' || !data.opaque) return []
      const isPlain = target ? !isRuledValue(stepsOf(target)) : isPlainText(data, source === 'Secret')
      return isPlain ? [] : [{ path, holders: data.opaque }]
    })
  })
}

/** Many releases may read the same values. */
const plainTexts = new WeakMap<ScalarNode, boolean>()

/** Whether the variables in a text of values are plain values without a rule. */
function isPlainText(data: ScalarNode, isEncoded: boolean): boolean {
  const known = plainTexts.get(data)
  if (known !== undefined) return known
  const bytes = Buffer.from(String(data.value), isEncoded ? 'base64' : 'utf8')
  const isPlain = parsed(bytes).every(root => root?.type === 'map' && isPlainBelow(root, []))
  plainTexts.set(data, isPlain)
  return isPlain
}

/** The documents of values; one that is unknown where they are no YAML. */
function parsed(bytes: Uint8Array): readonly (Node | undefined)[] {
  try {
    return parseDocuments({ repository: '', path: 'values' }, bytes)
  } catch (error) {
    if (error instanceof BailiwickError) return [undefined]
    throw error
  }
}

/** Whether every variable below is a plain value without a rule, and no key. */
function isPlainBelow(node: Node, path: Path): boolean {
  if (node.type === 'list') return node.items.every((item, index) => isPlainBelow(item, [...path, index]))
  if (node.type === 'map') {
    return [...node.fields].every(([key, { value }]) => !key.includes('${') && isPlainBelow(value, [...path, key]))
  }
  return typeof node.value !== 'string' || !node.value.includes('${') || !isRuledValue(path)
}

/** The steps of a path as Helm's --set reads it. */
function stepsOf(targetPath: string): Path {
  return targetPath.split(/[.[\]]+/).flatMap(step => (step === '' ? [] : [/^\d+$/.test(step) ? Number(step) : step]))
}
