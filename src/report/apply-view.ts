import type { Evaluation } from '../rules/model/finding.ts'
import type { AppliedNode } from './apply-report.ts'
import { PrivateWords } from './text/private-words.ts'

/** What was applied, as the tenants whose nodes these are may read it: reasons and refusals without the names of others. */
export function applyViewFor(nodes: readonly AppliedNode[], { verdict, nodes: evaluated }: Evaluation): AppliedNode[] {
  const keys = new Set(nodes.map(node => node.key))
  const audience = new Set(evaluated.filter(node => keys.has(node.key)).map(node => node.tenant ?? ''))
  const words = new PrivateWords(verdict, [...audience], evaluated)
  return nodes.map(({ reason, note, objects, ...node }) => ({
    ...node,
    ...(reason === undefined ? {} : { reason: words.hide(reason) }),
    ...(note === undefined ? {} : { note: words.hide(note) }),
    objects: objects.map(({ message, fields, ...object }) => ({
      ...object,
      ...(message === undefined ? {} : { message: words.hide(message) }),
      ...(fields === undefined ? {} : { fields: fields.map(one => ({ ...one, field: words.hide(one.field) })) }),
    })),
  }))
}
