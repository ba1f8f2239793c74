import { BailiwickError } from '../../../errors.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { at, type Node, type Path, stringAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { parseDocuments } from '../../../kube/yaml/parse-documents.ts'
import { message } from '../../../message/message.ts'
import { everyPath } from './every-path.ts'
import { textOf } from './scalars.ts'

/** Helm itself reads no deeper paths. */
const MAX_TARGET = 1_000

/** A piece of what a HelmRelease gives to its chart, or does to what the chart renders. */
interface HelmInput {
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
    const source = sourceValue(from, release, cluster, index)
    if (target !== '') yield { path, root: nested(target, textOf(source), from), inline: false }
    else if (source) for (const root of parsed(source)) yield { path, root, inline: false }
  }
  for (const path of everyPath(release.root, ['spec', 'postRenderers', '*', 'kustomize', 'patches', '*', 'patch'])) {
    for (const root of parsed(at(release.root, path)!)) yield { path, root, inline: false }
  }
  // of older versions of HelmRelease, where patches are no texts
  for (const field of [
    ['patchesStrategicMerge', '*'],
    ['patchesJson6902', '*', 'patch'],
  ]) {
    for (const path of everyPath(release.root, ['spec', 'postRenderers', '*', 'kustomize', ...field])) {
      yield { path, root: at(release.root, path)!, inline: false }
    }
  }
}

/** The value of a key of a ConfigMap in the namespace of the release; undefined where the fleet does not show it. */
function sourceValue(from: Node, release: KubeObject, cluster: string, index: FleetIndex): Node | undefined {
  if (stringAt(from, ['kind']) !== 'ConfigMap') return undefined
  const namespace = stringAt(release.root, ['metadata', 'namespace']) ?? ''
  const name = stringAt(from, ['name']) ?? ''
  const object = index.versionsOf(cluster, '/ConfigMap', namespace, name).at(-1)?.object
  return at(object?.root, ['data', stringAt(from, ['valuesKey']) || 'values.yaml'])
}

/** `a.b[0].c` with a value, as Helm's --set reads it: what the fleet does not show may be anything. */
function nested(target: string, text: string | undefined, from: Node): Node {
  const { origin } = from
  const value = text === undefined || text === 'true' ? true : /^\d{1,9}$/.test(text) ? Number(text) : text
  if (target.length > MAX_TARGET) {
    const what = `a targetPath of more than ${MAX_TARGET} characters`
    throw new BailiwickError('render-limits', what, { origin, fix: message`Shorten the path.` })
  }
  const steps = target.split(/[.[\]]+/).filter(step => step !== '' && !/^\d+$/.test(step))
  const leaf: Node = { type: 'scalar', value, origin }
  return steps.reduceRight<Node>(
    (inner, step) => ({ type: 'map', fields: new Map([[step, { key: origin, value: inner }]]), origin }),
    leaf,
  )
}

const known = new WeakMap<Node, readonly Node[]>()

/** Values never change, so that those that many releases take are parsed once. Throws `render-limits`. */
function parsed(value: Node): readonly Node[] {
  const documents = known.get(value) ?? parse(value)
  known.set(value, documents)
  return documents
}

function parse(value: Node): readonly Node[] {
  try {
    return parseDocuments({ repository: '', path: 'values' }, Buffer.from(textOf(value) ?? ''))
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    if (error.code !== 'render-limits') return []
    throw new BailiwickError('render-limits', error.message, { origin: value.origin, fix: error.fix })
  }
}
