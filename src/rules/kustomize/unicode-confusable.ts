import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import type { Path } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isIdentity } from './support/guarded-place.ts'
import { scanObject } from './support/scan-object.ts'

/** What people read is what is written. */
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

function* unseen({ object, node }: Subject): Generator<Violation> {
  for (const { character, origin } of object.unseen ?? []) {
    yield {
      node,
      object,
      path: [],
      origin,
      value: `${character} ${origin.file}`,
      message: message`${quoted('path', origin.file)} contains ${part('value', character)}, which is invisible or changes the direction of the text. Allowed: visible characters.`,
      fix: message`Remove the character.`,
    }
  }
}

const NAMES = new Set(['image', 'url', 'host', 'hostname', 'address', 'endpoint', 'repository', 'secretName'])
/** Latin, and letters that look like it. */
const MIXED = /\p{Script=Latin}/u
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
const INVISIBLE = /[\u00ad\u180e\u200b-\u200f\u2060\u2066-\u2069\u202a-\u202e\ufeff]/

function* lookalikes(subject: Subject): Generator<Violation> {
  const { object, id, node } = subject
  for (const { path, text, isKey } of scanObject(object.root).foreign) {
    const problem = problemOf(subject, path, text, isKey)
    if (problem === undefined) continue
    const field = isKey
      ? message`a key in ${quoted('field', path.slice(0, -1).join('.'))}`
      : message`${quoted('field', path.join('.'))}`
    yield {
      node,
      object,
      path,
      value: text,
      message: message`${field} of ${objectPart(id.kind, id.namespace, id.name)} is ${quoted('value', text)}, ${problem}. Allowed: ASCII.`,
      fix: message`Write the name in ASCII.`,
    }
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
