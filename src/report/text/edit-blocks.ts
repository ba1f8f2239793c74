import type { FindingGroup } from '../../evaluate/verdict/group-findings.ts'
import type { Fix } from '../../fix/fixes-of.ts'
import { fenced } from '../../message/fenced.ts'
import { code } from '../../message/markdown.ts'

/** Characters of all edits of one comment: the findings themselves come first. */
const BUDGET = 20_000
const ELSEWHERE = '`bailiwick fix --apply` writes it.'

/** The fix whose edit mends a finding. */
export function fixOfGroup({ finding }: Pick<FindingGroup, 'finding'>, fixes: readonly Fix[]): Fix | undefined {
  const { rule, origin } = finding
  const isSame = (one: (typeof fixes)[number]['findings'][number]) =>
    one.rule === rule && one.origin.line === origin.line && one.origin.column === origin.column
  return fixes.find(({ path, findings }) => path === origin.file && findings.some(isSame))
}

/** The certain edits of findings as blocks that `git apply` takes, each once in one comment, within 20,000 characters. */
export class EditBlocks {
  readonly #fixes: readonly Fix[]
  readonly #shown = new Map<string, string>()
  #used = 0

  constructor(fixes: readonly Fix[]) {
    this.#fixes = fixes
  }

  /** Markdown that follows a finding; '' if no edit of it is certain. */
  blockOf(group: Pick<FindingGroup, 'finding'>): string {
    const fix = fixOfGroup(group, this.#fixes)
    if (!fix) return ''
    if (!fix.patch) return `Edit: not shown. ${ELSEWHERE}`
    const text = fenced('diff', fix.patch)
    const known = this.#shown.get(text)
    if (known !== undefined) return `Edit: included in the edit of ${known} above.`
    if (this.#used + text.length > BUDGET) return `Edit: omitted for length. ${ELSEWHERE}`
    this.#used += text.length
    this.#shown.set(text, `${code(group.finding.rule)} at ${code(`${fix.path}:${fix.first}`)}`)
    return `Edit, for \`git apply\`:\n\n${text}`
  }
}
