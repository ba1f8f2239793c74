import { code, fenced, prose } from '../base/markup.ts'
import type { Finding } from '../rules/model/finding.ts'
import type { Fix } from './fixes.ts'

/** A review comment that offers a fix with one click. */
interface Suggestion {
  readonly path: string
  readonly first: number
  readonly last: number
  /** Markdown, which begins with the marker of the fix. */
  readonly body: string
  /** Whether it fixes findings, so that the button of the check applies it, too. */
  readonly isFix: boolean
}

/** A fix as offered in a suggestion. */
export interface OfferedFix extends Pick<Fix, 'id' | 'path' | 'first' | 'last' | 'lines'> {
  readonly findings: readonly Pick<Finding, 'rule' | 'message' | 'fix'>[]
}

/** More threads than this are noise; the rest is a button. */
const MAX_SUGGESTIONS = 10

const MARKER = /^<!-- bailiwick:fix:([\da-f]{20}) -->/

/** The id of the fix that a comment of ours offers; undefined for any other comment. */
export function fixIdOf(body: string): string | undefined {
  return MARKER.exec(body)?.[1]
}

/** What was offered on a pull request before. */
interface Offered {
  /** Ids of fixes that a comment of ours offered, answered or not. */
  readonly offered: ReadonlySet<string>
  /** How many of those comments are still on their lines. */
  readonly open: number
}

/** Turns fixes into suggestions on lines of the pull request's diff; none twice, and at most 10 open ones. */
export function suggestionsOf(
  fixes: readonly OfferedFix[],
  changed: ReadonlyMap<string, ChangedLines>,
  { offered, open }: Offered,
): Suggestion[] {
  return fixes
    .filter(fix => !offered.has(fix.id) && changed.get(fix.path)?.covers(fix.first, fix.last))
    .slice(0, Math.max(0, MAX_SUGGESTIONS - open))
    .map(fix => ({
      path: fix.path,
      first: fix.first,
      last: fix.last,
      body: bodyOf(fix),
      isFix: fix.findings.length > 0,
    }))
}

/** The text of the review above its suggestions. */
export function reviewBody(suggestions: readonly Suggestion[]): string {
  const count = suggestions.filter(({ isFix }) => isFix).length
  const others = suggestions.length - count
  const lines = others === 1 ? 'One suggestion adds' : `${others} suggestions add`
  const added = others === 0 ? [] : [`${lines} what a new tenant lacks.`]
  return [...(count === 0 ? [] : [fixesText(count)]), ...added].join('\n\n')
}

function fixesText(count: number): string {
  const what = count === 1 ? 'One finding has an automatic fix.' : `${count} findings have an automatic fix.`
  return `${what} Commit the suggestions, or press *Apply fixes* on the check to commit all of them.`
}

function bodyOf({ id, findings, lines }: OfferedFix): string {
  const reasons = findings
    .slice(0, 5)
    .map(({ rule, message, fix }) => `${code(rule)}: ${prose(message)} ${prose(fix)}`)
    .join('\n\n')
  return `<!-- bailiwick:fix:${id} -->\n${reasons}\n\n${fenced('suggestion', lines)}`
}

const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm

/** Lines of the new file that GitHub shows in the diff of a file, and on which it lets one comment. */
export class ChangedLines {
  readonly #ranges: readonly (readonly [number, number])[]

  /** `patch`: the unified diff that GitHub gives with the file; absent where it is too large or not text. */
  constructor(patch: string | undefined) {
    this.#ranges = [...(patch ?? '').matchAll(HUNK)].map(([, start, count]) => {
      const first = Number(start)
      return [first, first + Number(count ?? 1) - 1] as const
    })
  }

  /** Whether all of these lines are in one hunk of the diff. */
  covers(first: number, last: number): boolean {
    return this.#ranges.some(([from, to]) => from <= first && last <= to)
  }
}
