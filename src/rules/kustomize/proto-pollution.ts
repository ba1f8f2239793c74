import { shown, shownObject } from '../../facts/shown.ts'
import type { Rule } from '../model/rule.ts'
import { scanObject } from './support/scan-object.ts'

/** No key of a tenant's object changes what all objects of a JavaScript program have. */
export const protoPollution: Rule = {
  id: 'proto-pollution',
  severity: 'high',
  title: 'No key reaches into the programs that read it',
  why: `Programs in JavaScript that merge a map with the key __proto__, or with constructor and prototype in it, give its fields to every object that they have: a check may find "allowed: true" where nobody wrote it. Bailiwick keeps keys in maps of their own and is not affected; what reads the object later may be.`,
  source: 'CWE-1321',
  docs: `Leave the key out. No field of Kubernetes has such a name.`,
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
        message: `${shownObject(id.kind, id.namespace, id.name)} has the key ${shown(String(path.at(-1)))}, which programs in JavaScript take for a part of every object.`,
        fix: 'Remove the key.',
      }
    }
  },
}
