import { checkedName, inputError, quote } from '../checked-names.ts'

/** How to write it in a comment. */
export const COMPLETE_USAGE = 'complete TENANT [--cluster C]'

interface CompleteWords {
  readonly tenant: string
  /** The cluster that lists it from now on; absent: the one that is clear. */
  readonly cluster: string | undefined
}

/** Reads what stands behind `complete`. Throws `onboard-input`. */
export function parseComplete(words: readonly string[]): CompleteWords {
  const [tenant, option, cluster, ...more] = words
  const fix = `Write: /bailiwick ${COMPLETE_USAGE}`
  if (tenant === undefined || tenant.startsWith('-')) throw inputError('the name of the tenant is missing', fix)
  if (option !== undefined && option !== '--cluster') throw inputError(`${quote(option)} is an extra argument`, fix)
  if (option !== undefined && cluster === undefined) throw inputError('--cluster has no value', fix)
  if (more.length > 0) throw inputError(`${quote(more[0]!)} is an extra argument`, fix)
  return { tenant: checkedName(tenant, 'tenant'), cluster }
}
