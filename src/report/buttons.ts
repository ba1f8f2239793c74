import type { ReportContext } from './outcome.ts'
import type { View } from './text/audience.ts'
import { isNew } from './text/headline.ts'

/** A button of a check run: label at most 20 characters, description at most 40, at most three of them. */
export interface Button {
  readonly label: string
  readonly description: string
  readonly identifier: 'evaluate' | 'fix' | 'waive'
}

const EVALUATE: Button = { label: 'Re-evaluate', description: 'Evaluate this commit again', identifier: 'evaluate' }
const FIX: Button = { label: 'Apply fixes', description: 'Commit the automatic fixes to the branch', identifier: 'fix' }
const WAIVE: Button = { label: 'Request waiver', description: 'Ask a fleet admin to accept this', identifier: 'waive' }

/** The buttons that make sense. A merge group's commit is gone soon: it has none. `view`: absent where nothing was evaluated. */
export function buttonsOf({ kind, fixable, decisions }: ReportContext, view?: View): readonly Button[] {
  if (kind === 'merge-group') return []
  const blocks = view?.verdict.violations.some(isNew) === true && decisions?.override === undefined
  const isPull = kind === 'pull-request'
  return [EVALUATE, ...(isPull && fixable ? [FIX] : []), ...(isPull && blocks ? [WAIVE] : [])]
}
