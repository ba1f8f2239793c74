import { BailiwickError } from '../../errors.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import type { FleetIndex } from '../index/fleet-index.ts'
import { everyPath } from './every-path.ts'
import { textOf } from './scalars.ts'

/** A piece of what a HelmRelease gives to its chart, or does to what the chart renders. */
export interface HelmInput {
  /** Where the release says it. */
  readonly path: Path
  /** The values; `path` is where they begin. */
  readonly root: Node
  /** The values stand in the release itself, so a field of them is a field of it. */
  readonly inline: boolean
}

/** Values, values of ConfigMaps that the fleet renders, single ones with their `targetPath`, and patches of the outcome. */
export function* helmInputs(release: KubeObject, cluster: string, index: FleetIndex): Iterable<HelmInput> {
  const values = at(release.root, ['spec', 'values'])
  if (values) yield { path: ['spec', 'values'], root: values, inline: true }
  for (const path of everyPath(release.root, ['spec', 'valuesFrom', '*'])) {
    const from = at(release.root, path)!
    const target = stringAt(from, ['targetPath']) ?? ''
    const text = sourceText(from, release, cluster, index)
    if (target !== '') yield { path, root: nested(target, text, from), inline: false }
    else if (text !== undefined) for (const root of parsed(text)) yield { path, root, inline: false }
  }
  for (const path of everyPath(release.root, ['spec', 'postRenderers', '*', 'kustomize', 'patches', '*', 'patch'])) {
    for (const root of parsed(textOf(at(release.root, path)) ?? '')) yield { path, root, inline: false }
  }
  for (const path of everyPath(release.root, [
    'spec',
    'postRenderers',
    '*',
    'kustomize',
    'patchesStrategicMerge',
    '*',
  ])) {
    yield { path, root: at(release.root, path)!, inline: false }
  }
}

/** The text of a key of a ConfigMap in the namespace of the release; undefined where the fleet does not show it. */
function sourceText(from: Node, release: KubeObject, cluster: string, index: FleetIndex): string | undefined {
  if (stringAt(from, ['kind']) !== 'ConfigMap') return undefined
  const namespace = stringAt(release.root, ['metadata', 'namespace']) ?? ''
  const name = stringAt(from, ['name']) ?? ''
  const object = index.versionsOf(cluster, '/ConfigMap', namespace, name).at(-1)?.object
  return stringAt(object?.root, ['data', stringAt(from, ['valuesKey']) || 'values.yaml'])
}

/** `a.b[0].c` with a value, as Helm's --set reads it: what the fleet does not show may be anything. */
function nested(target: string, text: string | undefined, from: Node): Node {
  const { origin } = from
  const value = text === undefined || text === 'true' ? true : /^\d{1,9}$/.test(text) ? Number(text) : text
  const steps = target
    .slice(0, 1000)
    .split(/[.[\]]+/)
    .filter(step => step !== '' && !/^\d+$/.test(step))
  const leaf: Node = { type: 'scalar', value, origin }
  return steps.reduceRight<Node>(
    (inner, step) => ({ type: 'map', fields: new Map([[step, { key: origin, value: inner }]]), origin }),
    leaf,
  )
}

function parsed(text: string): readonly Node[] {
  try {
    return parseDocuments({ repository: '', path: 'values' }, Buffer.from(text.slice(0, 1024 * 1024)))
  } catch (error) {
    if (error instanceof BailiwickError) return []
    throw error
  }
}
