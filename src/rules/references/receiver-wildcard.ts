import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { RECEIVER } from '../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { type Message, message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'

const FILTER = ['spec', 'resourceFilter']

/** A webhook triggers what it is meant for, not everything. */
export const receiverWildcard: Rule = {
  id: 'receiver-wildcard',
  severity: 'medium',
  level: 'warning',
  title: 'Receiver for all objects',
  why: 'One webhook request reconciles every object that the Receiver selects. A Receiver for all objects lets one request load the controllers that all tenants share.',
  source: 'fluxcd/flux2 discussion 263; notification-controller api/v1/receiver_types.go',
  docs: 'Name the objects, or select them with `name: "*"` and `matchLabels`. A `resourceFilter` must test a field of `res`.',
  kinds: [RECEIVER],
  *checkTenantObject(subject) {
    const { object } = subject
    const list = at(object.root, ['spec', 'resources'])
    const items = list?.type === 'list' ? [...list.items.keys()] : []
    for (const index of items) {
      const path = ['spec', 'resources', index]
      const labels = at(object.root, [...path, 'matchLabels'])
      const selects = labels?.type === 'map' && labels.fields.size > 0
      if (stringAt(object.root, [...path, 'name'])?.trim() !== '*' || selects) continue
      const kind = stringAt(object.root, [...path, 'kind']) ?? 'object'
      yield violation(
        subject,
        [...path, 'name'],
        `${kind} *`,
        message`triggers every ${quoted('object', kind)} of the namespace`,
      )
    }
    const filter = stringAt(object.root, FILTER)
    if (filter && isAlwaysTrue(filter))
      yield violation(subject, FILTER, filter, message`has a resourceFilter that matches every object`)
  },
}

/** Looks at neither the object nor the request, or gives it up in an alternative. */
function isAlwaysTrue(filter: string): boolean {
  const text = filter.replace(/\s+/g, ' ').trim()
  const asks = /(?<![\w.])(?:res|req|request|resource)\s*[.[]/.test(text)
  return !asks || /\|\| ?\(?true\b|\btrue\)? ?\|\|/.test(text)
}

function violation({ object, id, node }: Subject, path: Path, value: string, what: Message): Violation {
  const problem = message`${objectPart(id.kind, id.namespace, id.name)} ${what}.`
  return { node, object, path, value, message: problem, fix: message`Set name to the object, or set matchLabels.` }
}
