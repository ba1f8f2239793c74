import { hash } from 'node:crypto'
import type { ErrorCode } from '../../errors.ts'
import { fixOf, sayingOf, typedMessage, type Worded } from '../../message/said.ts'
import type { Evaluation } from '../../rules/model/finding.ts'
import { NOTHING_EVALUATED } from './evaluated.ts'

/** The evaluation of a fleet that could not be built: one error for everything, and nothing to apply. */
export function undecided(reason: Worded & { readonly code: ErrorCode }): Evaluation {
  const fingerprint = hash('sha256', JSON.stringify(['undecided', reason.code, reason.message]))
  return {
    verdict: {
      result: 'error',
      summary: `could not be evaluated: ${reason.message}`,
      clusters: [],
      tenants: [],
      violations: [],
      warnings: [],
      errors: [
        {
          code: reason.code,
          state: 'new',
          ...sayingOf(typedMessage(reason), fixOf(reason)),
          origin: { repository: '', file: '', line: 1, column: 1 },
          cluster: '',
          tenant: '',
          node: '',
          fingerprint,
        },
      ],
      notSeen: [],
      notReached: [],
      notEvaluated: [],
      requiredApprovals: [],
      evaluated: NOTHING_EVALUATED,
      combination: fingerprint,
    },
    nodes: [],
  }
}
