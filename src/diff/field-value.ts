import type { Node } from '../kube/node.ts'
import { redactLines } from '../message/redact.ts'
import { visible } from '../message/visible.ts'
import type { PathStep } from './diff-nodes.ts'
import type { SecretWords } from './secret-words.ts'

/** What is shown of a value is no longer than this. */
const MAX_VALUE = 240

/** Names of fields, variables and keys whose values are credentials. */
const CREDENTIAL =
  /(?:pass(?:word|wd|phrase)?|pwd|token|secret|api[-_]?key|(?:private|access|account|secret)[-_]?key(?:[-_]?base)?|key-data|credentials?|htpasswd|dsn)$/i
/** A Secret that is the text of something else is a Secret. */
const ENCRYPTED = /ENC\[|-----BEGIN |AGE-SECRET-KEY-|\bkind\\?["']?\s{0,4}:\s{0,4}\\?["']?Secret\b/

/** Whether a value at a path is never shown, whatever it is. */
export function isSecretName(path: readonly PathStep[]): boolean {
  const names = path.map(step => (typeof step === 'string' ? step : (step.label ?? '')))
  const last = names.at(-1) ?? ''
  // `env[DB_PASSWORD].value`
  return CREDENTIAL.test(last) || (last === 'value' && CREDENTIAL.test(names.at(-2) ?? ''))
}

/** The text of a scalar or an empty list or map; undefined where it holds a hidden value. */
export function valueText(node: Node, words: SecretWords): string | undefined {
  if (node.type === 'map') return '{}'
  if (node.type === 'list') return '[]'
  if (node.opaque) return undefined
  if (typeof node.value !== 'string') {
    const text = String(node.value)
    return words.isIn(text) ? undefined : text
  }
  if (ENCRYPTED.test(node.value) || words.isIn(node.value)) return undefined
  const text = redactLines(words.withoutHashes(node.value).split('\n')).join('\n')
  return visible(isAmbiguous(text) ? JSON.stringify(text) : text, MAX_VALUE)
}

/** Texts that would look like something else without quotes. */
function isAmbiguous(text: string): boolean {
  return text.trim() !== text || text === '' || /^(?:true|false|null|~|[-+.\d][\d.eE+_-]*|\{\}|\[\])$/.test(text)
}
