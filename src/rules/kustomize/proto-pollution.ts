import { objectPart, quoted } from '../../facts/shown.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { scanObject } from './support/scan-object.ts'

/** No key of a tenant's object changes what all objects of a JavaScript program have. */
export const protoPollution: Rule = {
  id: 'proto-pollution',
  severity: 'high',
  title: 'Key that pollutes JavaScript prototypes',
  why: 'A JavaScript program that merges a map with the key `__proto__` can add its fields to every object. The same goes for `constructor` with `prototype`. A check can then read `allowed: true` from an unrelated object. Bailiwick is not affected, but programs that read the object later can be.',
  source: 'CWE-1321',
  docs: 'Remove the key. No Kubernetes field has this name.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }) {
    const written = object.prototypeKeys ?? []
    const known = new Set(written.map(({ path }) => path.join('.')))
    const rendered = scanObject(object.root).prototypeKeys.filter(({ path }) => !known.has(path.join('.')))
    for (const { path, origin } of [...written, ...rendered]) {
      yield {
        node,
        object,
        path,
        origin,
        value: path.join('.'),
        message: message`${objectPart(id.kind, id.namespace, id.name)} has the key ${quoted('value', String(path.at(-1)))}, which JavaScript programs can merge into every object. Allowed: any other key.`,
        fix: message`Remove the key.`,
      }
    }
  },
}
