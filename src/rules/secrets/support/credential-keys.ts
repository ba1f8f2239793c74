import { isPlaceholder } from './placeholder.ts'

/** Endings of names, without their separators, that say that the value is a credential. */
const ENDINGS =
  'password passwd passphrase apikey clientsecret accesstoken authtoken bearertoken apitoken privatekey secretaccesskey'.split(
    ' ',
  )
/** Values that say how to come by a secret, or that there is none. */
const WORDS = new Set('none null nil true false disabled enabled required optional yes no env file vault'.split(' '))

/** Whether something of this name is a credential: `rootPassword`, `DB_PASSWORD`, `api-key`; not `password_policy`. */
export function isCredentialName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return ENDINGS.some(ending => plain.endsWith(ending))
}

/** Whether text is the credential itself: not empty, a reference, a path, a placeholder or a sentence. */
export function isLiteral(text: string): boolean {
  if (isPlaceholder(text)) return false
  if (text.length < 3 || text.length > 4096 || WORDS.has(text.toLowerCase())) return false
  if (/\s|\$\{|\$\(|\{\{|^[/<~.$]|^(?:file|vault|op|ref\+|secret|secretref|env|arn|awssm):/i.test(text)) return false
  return !/^(?:x{3,}|\*{3,}|\.{3,}|ENC\[.*)$/i.test(text)
}

const ASSIGNMENT =
  /^[ \t]{0,40}(?:export )?([\w.-]{1,100})[ \t]{0,10}[=:][ \t]{0,10}["']?([^\s"']{1,4096})["']?[ \t\r]{0,10}$/

const MAX_LINE = 4_400

/** The name of the first line that assigns a credential: `db.password=hunter2` in properties, .env, ini or YAML. */
export function assignedCredential(text: string): string | undefined {
  if (!/passw|passph|key|token|secret/i.test(text)) return undefined
  for (const line of text.split('\n')) {
    // a name, a value and what may stand around them are no longer
    if (line.length > MAX_LINE) continue
    const [, name, value] = ASSIGNMENT.exec(line) ?? []
    if (name !== undefined && value !== undefined && isCredentialName(name) && isLiteral(value)) return name
  }
  return undefined
}
