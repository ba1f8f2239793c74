import { checkRunOf } from '../../src/report/check-run.ts'
import type { Said } from './judge-pull-request.ts'

/** Whether what there is to say holds back a merge. */
export function blocks({ outcome, context }: Said): boolean {
  return checkRunOf(outcome, context).conclusion !== 'success'
}
