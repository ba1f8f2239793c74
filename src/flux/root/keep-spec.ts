import { mapNode, textNode, withField } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node } from '../../kube/node.ts'
import { keepReadable, type PartReader } from '../../kustomize/fields/keep-readable.ts'
import type { PathState } from './local-components.ts'
import { mergeSpec } from './merge-spec.ts'

/** Lists of texts; all others that are merged are lists of objects. */
const TEXTS = ['components', 'buildMetadata']

/** A Flux Kustomization without the parts of its spec that cannot be merged into a kustomization. */
export function keepSpec(
  kustomization: MapNode,
  parts: Pick<PartReader, 'tolerance' | 'hides'>,
  find: (path: string) => PathState,
): MapNode {
  const spec = at(kustomization, ['spec'])
  if (spec?.type !== 'map') return kustomization
  const { origin } = kustomization
  const empty = mapNode([], origin)
  const read = (only: MapNode) => {
    mergeSpec(empty, withField(kustomization, 'spec', only), find)
  }
  const ignore = at(spec, ['ignoreMissingComponents'])
  const always = mapNode(ignore ? [['ignoreMissingComponents', ignore]] : [], origin)
  const filler = (name: string): Node => (TEXTS.includes(name) ? textNode('.', origin) : empty)
  return withField(kustomization, 'spec', keepReadable(spec, always, { ...parts, read, filler }))
}
