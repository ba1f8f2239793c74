import { checkRunOf } from '../../src/report/check-run.ts'
import { commentOf } from '../../src/report/comment.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'
import { MAX_TITLE } from '../../src/verdict/headline.ts'

/** Words of a finding's first sentence. */
const MAX_WORDS = 18
/** Lines with words before the first fold. */
const MAX_OPEN = 8

/** What is too long in the texts of a verdict for a reader in a hurry: title, first sentences, lines before the first fold. */
export function longTexts(verdict: Verdict): string[] {
  const found = [...verdict.violations, ...verdict.warnings]
  const repository = [...found, ...verdict.errors].find(({ state }) => state === 'new')?.origin.repository ?? ''
  const context = { kind: 'pull-request', repository, headSha: 'a'.repeat(40) } as const
  const { title, summary } = checkRunOf(verdict, context)
  const sentences = [...new Set(found.map(({ message }) => firstSentence(message)))]
  return [
    ...(title.length > MAX_TITLE ? [`title of ${title.length} characters: ${title}`] : []),
    ...sentences.filter(one => one.split(' ').length > MAX_WORDS).map(one => `first sentence: ${one}`),
    ...[summary, commentOf(verdict, context) ?? '']
      .map(openLines)
      .filter(lines => lines.length > MAX_OPEN)
      .map(lines => `${lines.length} lines before the first fold: ${lines.join(' / ')}`),
  ]
}

/** What is quoted counts as one word: it is as long as its author made it. */
function firstSentence(message: string): string {
  const plain = message.replace(/"(?:[^"\\]|\\.)*"|`[^`]*`/g, 'X')
  return plain.split(/(?<=[.!?])\s+(?=[A-Z])/)[0] ?? ''
}

function openLines(text: string): string[] {
  const [open = ''] = text.split('<details')
  return open.split('\n').filter(line => line.trim() !== '' && !line.startsWith('<!--'))
}
