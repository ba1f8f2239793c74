import { idOf } from '../../src/cluster/id-of.ts'
import { display, groupOf, type ObjectId } from '../../src/kube/object.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

/** The same, with the line in git of what was refused, and of the Kustomizations that are not applied. */
export function withLines(applied: readonly AppliedNode[], nodes: readonly EvaluatedNode[]): AppliedNode[] {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  return applied.map(one => {
    const node = byKey.get(one.key)
    const isRefused = one.objects.some(({ action }) => action === 'refused')
    if (!node || (one.outcome === 'applied' && !isRefused)) return one
    const lines = isRefused ? linesOf(node) : new Map<string, never>()
    const objects = one.objects.map(item => {
      const place = item.action === 'refused' ? lines.get(keyOf(item.object)) : undefined
      return place ? { ...item, place } : item
    })
    return { ...one, objects, ...(node.declared ? { place: node.declared } : {}) }
  })
}

function linesOf({ objects, places = [] }: EvaluatedNode) {
  return new Map(
    objects.flatMap((text, at) => {
      const place = places[at]
      return place ? [[keyOf(idOf(JSON.parse(text))), place] as const] : []
    }),
  )
}

const keyOf = (id: ObjectId): string => `${groupOf(id.apiVersion)} ${display(id)}`
