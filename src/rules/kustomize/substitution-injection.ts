import { objectPart, quoted } from '../../facts/shown.ts'
import { groupOf } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { isIdentity, isStructure } from './support/guarded-place.ts'

/** The value of a variable stays where it is put. The renderer raises it where a value ends the text around it. */
export const substitutionInjection: Rule = {
  id: 'substitution-injection',
  severity: 'critical',
  title: 'Variable that adds YAML',
  why: 'Flux substitutes variables in the text of objects. A value with braces, quotes or comments can add fields that are in no manifest: another namespace or another account.',
  source: 'fluxcd/pkg kustomize, SubstituteVariables',
  docs: 'Set each variable to one string, number or boolean, and use a patch for larger content. A list of plain values as the value of one field is allowed.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }) {
    for (const { path, how } of object.made ?? []) {
      if (how !== 'structure' || !(isStructure(path) || isIdentity(groupOf(id.apiVersion), path))) continue
      const field = quoted('field', path.join('.'))
      yield {
        node,
        object,
        path,
        value: `structure ${path.join('.')}`,
        message: message`${field} of ${objectPart(id.kind, id.namespace, id.name)} becomes a map or a list through the value of a variable. No manifest shows its fields. Allowed: variables with one string, number or boolean.`,
        fix: message`Write ${field} in the manifest, and use variables only for single values in it.`,
      }
    }
  },
}
