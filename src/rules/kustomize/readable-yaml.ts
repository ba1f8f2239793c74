import { message, part } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { at, isTrue, type Path, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { isIdentity, isSecurity, scanObject } from './object-scan.ts'

/** Text looks like what it is. */
export const unicodeConfusable: Rule = {
  id: 'unicode-confusable',
  severity: 'medium',
  level: 'warning',
  title: 'Confusable or invisible Unicode characters',
  why: 'Zero-width and right-to-left characters hide what a line does, including in comments. A letter of another alphabet makes a different account, host or image with a familiar name.',
  source: 'CVE-2021-42574',
  docs: 'Write names, addresses and keys in ASCII. Other alphabets and emoji are allowed in descriptions, comments and content.',
  kinds: 'every',
  *checkTenantObject(subject) {
    yield* unseen(subject)
    yield* lookalikes(subject)
  },
}

function* unseen(subject: Subject): Generator<Violation> {
  for (const { character, origin } of subject.object.unseen ?? []) {
    yield subject.violation([], `${character} ${origin.file}`, {
      origin,
      message: message`${quoted('path', origin.file)} contains ${part('value', character)}, which is invisible or changes the direction of the text. Allowed: visible characters.`,
      fix: message`Remove the character.`,
    })
  }
}

const NAMES = new Set(['image', 'url', 'host', 'hostname', 'address', 'endpoint', 'repository', 'secretName'])
/** Latin, and letters that look like Latin ones. */
const MIXED = /\p{Script=Latin}/u
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const INVISIBLE = /[\u00ad\u180e\u200b-\u200f\u2060\u2066-\u2069\u202a-\u202e\ufeff]/

function* lookalikes(subject: Subject): Generator<Violation> {
  for (const { path, text, isKey } of scanObject(subject.object.root).foreign) {
    const problem = problemOf(subject, path, text, isKey)
    if (problem === undefined) continue
    const field = isKey
      ? message`a key in ${quoted('field', path.slice(0, -1).join('.'))}`
      : message`${quoted('field', path.join('.'))}`
    yield subject.violation(path, text, {
      message: message`${field} of ${subject.who} is ${quoted('value', text)}, ${problem}. Allowed: ASCII.`,
      fix: message`Write the name in ASCII.`,
    })
  }
}

function problemOf({ id }: Subject, path: Path, text: string, isKey: boolean) {
  const last = path.at(-1)
  const isContent = ['data', 'stringData', 'binaryData'].includes(String(path[0])) || path[1] === 'annotations'
  if (isKey) return INVISIBLE.test(text) || isMixed(text) ? 'with characters of other alphabets' : undefined
  const isPerson = path[0] === 'subjects' && last === 'name'
  const isName =
    isIdentity(groupOf(id.apiVersion), path) ||
    (path[0] === 'metadata' && (last === 'name' || path[1] === 'labels')) ||
    (path[0] === 'spec' && typeof last === 'string' && (NAMES.has(last) || last.endsWith('Name')))
  if (!isName || isContent) return undefined
  if (INVISIBLE.test(text)) return 'with invisible characters'
  if (isPerson) return isMixed(text) ? 'which mixes alphabets' : undefined
  return 'with characters that Kubernetes does not allow in names'
}

const isMixed = (text: string) => MIXED.test(text) && LOOKALIKE.test(text)

/** No text means different things to different YAML readers. The renderer raises it for text without any single meaning. */
export const yamlAmbiguous: Rule = {
  id: 'yaml-ambiguous',
  severity: 'critical',
  title: 'Ambiguous YAML',
  why: 'Parsers disagree about such YAML: one reads a comment or text where another reads a key. The reviewer, Bailiwick and the cluster then see different objects. A YAML 1.2 parser reads a merge key as a key named `<<`, and `yes` as text.',
  docs: 'Write each key once, quote text, indent with spaces, and put `---` on its own line. Use true and false for booleans. Merge keys may bring any field except namespaces, kinds, grants and privileges.',
  kinds: 'every',
  *checkTenantObject(subject, context) {
    for (const { path, how } of scanObject(subject.object.root).unclear) {
      const isWord = how === 'word'
      if (isWord ? !isSwitch(subject, path) : !decides(subject, path, context)) continue
      const field = quoted('field', path.join('.'))
      const what = isWord
        ? 'is a boolean to YAML 1.1 parsers and text to others. Allowed: true and false'
        : 'comes from a merge key, which some YAML parsers do not support. Allowed: the field itself'
      const text = message`${field} of ${subject.who} ${what}.`
      const fix = isWord ? message`Write true or false.` : message`Replace the merge key with the field itself.`
      yield subject.violation(path, `${how} ${path.join('.')}`, {
        message: text,
        fix,
      }) satisfies Violation
    }
  },
}

function isSwitch({ id }: Subject, path: Path): boolean {
  return (
    isSecurity(path) || (groupOf(id.apiVersion).endsWith('.fluxcd.io') && path[0] === 'spec' && path[1] !== 'values')
  )
}

/** Whether a field decides where an object goes, what it is, what it grants, or that it is privileged. */
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

/** Files are clean UTF-8. The renderer raises it. */
export const yamlEncoding: Rule = {
  id: 'yaml-encoding',
  severity: 'medium',
  title: 'YAML that is not clean UTF-8',
  why: 'Parsers disagree about control characters, byte order marks and invalid UTF-8, and reviewers do not see them.',
  docs: 'Save the file as UTF-8, and write control characters as escapes in double quotes. A file in UTF-16 with a byte order mark is read if it is one document without characters above U+00FF: of a second document, kustomize applies nothing.',
}
