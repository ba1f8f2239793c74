import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, isTrue, type Path, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isSecurity } from './support/guarded-place.ts'
import { scanObject } from './support/scan-object.ts'

/** No text means different things to different readers of YAML. The renderer raises it for what has no one meaning at all. */
export const yamlAmbiguous: Rule = {
  id: 'yaml-ambiguous',
  severity: 'critical',
  title: 'Ambiguous YAML',
  why: 'Parsers disagree about such YAML: one reads a comment or text where another reads a key. The reviewer, Bailiwick and the cluster then see different objects. A YAML 1.2 parser reads a merge key as a key named `<<`, and `yes` as text.',
  docs: 'Write each key once, quote text, indent with spaces, and put `---` on its own line. Use true and false for booleans. Merge keys may bring any field except namespaces, kinds, grants and privileges.',
  kinds: 'every',
  *checkTenantObject(subject, context) {
    const { object, id, node } = subject
    for (const { path, how } of scanObject(object.root).unclear) {
      const isWord = how === 'word'
      if (isWord ? !isSwitch(subject, path) : !decides(subject, path, context)) continue
      const field = quoted('field', path.join('.'))
      const what = isWord
        ? 'is a word that YAML 1.1 parsers read as a boolean and others as text. Allowed: true and false'
        : 'comes from a merge key, which some YAML parsers do not support. Allowed: the field itself'
      const text = message`${field} of ${objectPart(id.kind, id.namespace, id.name)} ${what}.`
      const fix = isWord ? message`Write true or false.` : message`Replace the merge key with the field itself.`
      yield { node, object, path, value: `${how} ${path.join('.')}`, message: text, fix } satisfies Violation
    }
  },
}

function isSwitch({ id }: Subject, path: Path): boolean {
  return (
    isSecurity(path) || (groupOf(id.apiVersion).endsWith('.fluxcd.io') && path[0] === 'spec' && path[1] !== 'values')
  )
}

/** Whether a field says where an object goes, what it is, what it grants, or that it is privileged. */
function decides({ object, id, node }: Subject, path: Path, { index }: RuleContext): boolean {
  const [first, second] = path
  if (path.length === 1 && (first === 'kind' || first === 'apiVersion')) return true
  if (path.length === 2 && first === 'metadata' && second === 'namespace') {
    const namespace = stringAt(object.root, path) ?? ''
    return namespace !== '' && !index.owns(node.cluster, node.tenant!, namespace)
  }
  const isGrant = groupOf(id.apiVersion) === 'rbac.authorization.k8s.io'
  if (isGrant && path.length === 1 && ['roleRef', 'subjects', 'rules'].includes(String(first))) return true
  return isSecurity(path) && isTrue(at(object.root, path)) && path.at(-1) !== 'runAsNonRoot'
}
