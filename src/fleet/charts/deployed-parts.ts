import { BailiwickError } from '../../errors.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type ChartPart, chartParts, type TreeOf } from './chart-parts.ts'
import { type ClusterObjects, chartContent } from './chart-places.ts'

/** What in git makes the chart of a HelmRelease; undefined where it comes from elsewhere. */
export function deployedParts(
  release: KubeObject,
  objects: ClusterObjects,
  treeOf: TreeOf,
): readonly ChartPart[] | 'too-much' | undefined {
  try {
    const content = chartContent(release, objects)
    if (!content) return undefined
    const packing: ChartPart = { url: '', ref: '', path: '', id: content.packing }
    return [packing, ...chartParts(content, treeOf)]
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'render-limits') return 'too-much'
    throw error
  }
}
