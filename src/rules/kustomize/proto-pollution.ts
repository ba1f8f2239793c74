import type { Rule } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'
import { scanObject } from './scan-object.ts'

/** No key of a tenant's object changes what all objects of a JavaScript program have. */
export const protoPollution: Rule = {
  id: 'proto-pollution',
  severity: 'high',
  title: 'No key reaches into the programs that read it',
  why: `Programs in JavaScript that merge a map with the key __proto__, or with constructor and prototype in it, give its fields to every object that they have: a check may find "allowed: true" where nobody wrote it. Bailiwick keeps keys in maps of their own and is not affected; what reads the object later may be.`,
  source: 'CWE-1321',
  docs: `Leave the key out. No field of Kubernetes has such a name.`,
  kinds: 'every',
  *checkObject({ object, id, node }) {
    if (node.tenant === undefined) return
    for (const path of scanObject(object.root).prototypes) {
      yield {
        node,
        object,
        path,
        value: path.join('.'),
        message: `${shownObject(id.kind, id.namespace, id.name)} has the key ${shown(String(path.at(-1)))}, which programs in JavaScript take for a part of every object.`,
        fix: 'Remove the key.',
      }
    }
  },
}
