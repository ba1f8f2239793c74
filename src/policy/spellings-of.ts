import type { PolicyQuestion } from './engine.ts'

/** The forms of an address that a policy may have in mind: it refuses one only in whatever form it is written. */
export function spellingsOf({ written, address }: Pick<PolicyQuestion, 'written' | 'address'>): string[] {
  const { scheme, host, port, parts, text } = address
  const isGit = scheme === 'https' && parts.length > 0
  const ssh = isGit ? [`ssh://git@${host}${port && `:${port}`}/${parts.join('/')}`] : []
  return [...new Set([written, ...(written.includes('://') ? [text, ...ssh] : [text.replace(/^\w+:\/\//, '')])])]
}
