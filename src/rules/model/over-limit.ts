import type { FleetNode } from '../../fleet/model/fleet.ts'
import { type Message, plainText } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import type { Origin } from '../../origin.ts'
import type { Violation } from './rule.ts'

/** What is too much to look at: an evaluation error of the node (`render-limits`), never "nothing found". */
export function overLimit(node: FleetNode, what: string | Message, fix: string | Message, origin?: Origin): Violation {
  return {
    node,
    object: node.kustomization,
    path: ['spec', 'path'],
    ...(origin ? { origin } : {}),
    value: plainText(what),
    message: asMessage(what),
    fix: asMessage(fix),
    level: 'error',
    code: 'render-limits',
  }
}
