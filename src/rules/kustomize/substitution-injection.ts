import { shown, shownObject } from '../../facts/shown.ts'
import { groupOf } from '../../kube/object.ts'
import type { Rule } from '../model/rule.ts'
import { isIdentity, isStructure } from './support/guarded-place.ts'

/** The value of a variable stays where it is put. The renderer raises it where a value ends the text around it. */
export const substitutionInjection: Rule = {
  id: 'substitution-injection',
  severity: 'critical',
  title: 'A variable stands for one value',
  why: `Flux substitutes in the text of the objects. A value with braces, quotes or comments of its own adds fields that stand in no manifest: another namespace, another account.`,
  source: 'fluxcd/pkg kustomize, SubstituteVariables',
  docs: `Let each variable stand for one text, number or truth value, and use a patch for anything larger. A list of plain values as the value of one field is fine.`,
  kinds: 'every',
  *checkTenantObject({ object, id, node }) {
    for (const { path, how } of object.made ?? []) {
      if (how !== 'structure' || !(isStructure(path) || isIdentity(groupOf(id.apiVersion), path))) continue
      const field = shown(path.join('.'))
      yield {
        node,
        object,
        path,
        value: `structure ${path.join('.')}`,
        message: `${field} of ${shownObject(id.kind, id.namespace, id.name)} becomes a map or a list by the value of a variable: its fields stand in no manifest.`,
        fix: `Write ${field} into the manifest, and let variables stand for single values in it.`,
      }
    }
  },
}
