import { BailiwickError } from '../../errors.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import type { FleetIndex } from '../index/fleet-index.ts'
import type { Subject } from '../rule.ts'
import { everyPath } from '../workloads/every-path.ts'
import { isRuledValue } from '../workloads/helm-values-privileged.ts'
import type { UnknownValue } from './unknown-value.ts'

/**
 * Unknown values that a HelmRelease reads from rendered ConfigMaps and Secrets (`spec.valuesFrom`) and that are more than a
 * plain value of the chart without a rule: the data of these is inert only as long as nobody interprets it.
 */
export function valuesFromConfig({ object, kind, id, node }: Subject, index: FleetIndex): UnknownValue[] {
  if (kind !== 'helm.toolkit.fluxcd.io/HelmRelease') return []
  return everyPath(object.root, ['spec', 'valuesFrom', '*']).flatMap(path => {
    const from = at(object.root, path)
    const source = stringAt(from, ['kind']) ?? ''
    const name = stringAt(from, ['name']) ?? ''
    const key = stringAt(from, ['valuesKey']) || 'values.yaml'
    if (source !== 'ConfigMap' && source !== 'Secret') return []
    return index
      .versionsOf(node.cluster, `/${source}`, id.namespace, name)
      .flatMap(({ object: holder }): UnknownValue[] => {
        const data = at(holder.root, ['data', key])
        if (data?.type !== 'scalar' || !data.opaque) return []
        const text =
          source === 'Secret' ? Buffer.from(String(data.value), 'base64').toString('utf8') : String(data.value)
        return isPlainValue(stringAt(from, ['targetPath']) ?? '', text) ? [] : [{ path, holders: data.opaque }]
      })
  })
}

function isPlainValue(targetPath: string, text: string): boolean {
  if (targetPath !== '') return !isRuledValue(stepsOf(targetPath))
  try {
    const roots = parseDocuments({ repository: '', path: 'values' }, Buffer.from(text))
    return roots.every(root => root.type === 'map' && isPlainBelow(root, []))
  } catch (error) {
    if (error instanceof BailiwickError) return false
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
