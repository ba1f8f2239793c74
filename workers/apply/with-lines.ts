import { idOf } from '../../src/cluster/id-of.ts'
import type { FieldLines } from '../../src/kube/field-lines.ts'
import { lineOfField } from '../../src/kube/line-of-field.ts'
import { display, groupOf, type ObjectId } from '../../src/kube/object.ts'
import type { SourceLine } from '../../src/origin.ts'
import type { AppliedNode, AppliedObject, NamedField } from '../../src/report/apply-report.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'

/** The same, with the line in git of what was refused, and of the Kustomizations that are not applied. */
export function withLines(applied: readonly AppliedNode[], nodes: readonly EvaluatedNode[]): AppliedNode[] {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  return applied.map(one => {
    const node = byKey.get(one.key)
    const isRefused = one.objects.some(({ action }) => action === 'refused')
    if (!node || (one.outcome === 'applied' && !isRefused)) return one
    const written = isRefused ? writtenOf(node) : new Map<string, never>()
    const objects = one.objects.map(item => {
      const at = item.action === 'refused' ? written.get(keyOf(item.object)) : undefined
      return at ? withPlaces(item, at) : item
    })
    return { ...one, objects, ...(node.declared ? { place: node.declared } : {}) }
  })
}

interface Written {
  readonly text: string
  readonly place?: SourceLine | undefined
  readonly lines?: FieldLines | undefined
}

function withPlaces({ fields, ...item }: AppliedObject, { text, place, lines }: Written): AppliedObject {
  const located = fields?.map(({ field }): NamedField => {
    const at = (lines && lineOfField(text, lines, field)) ?? place
    return { field, ...(at ? { place: at } : {}) }
  })
  return { ...item, ...(place ? { place } : {}), ...(located ? { fields: located } : {}) }
}

function writtenOf({ objects, places, lines }: EvaluatedNode): Map<string, Written> {
  return new Map(
    objects.map((text, at) => [keyOf(idOf(JSON.parse(text))), { text, place: places?.[at], lines: lines?.[at] }]),
  )
}

const keyOf = (id: ObjectId): string => `${groupOf(id.apiVersion)} ${display(id)}`
