import type { RequiredApproval } from '../../rules/model/finding.ts'

/** The approvals as people are asked for them: files that were not checked for the same cause are one, at the first file. */
export function groupApprovals(approvals: readonly RequiredApproval[]): RequiredApproval[] {
  const groups = Map.groupBy(approvals, one => (one.because === undefined ? one : `${one.rule} ${one.because}`))
  return [...groups.values()].map(all => {
    const [first] = all as [RequiredApproval, ...RequiredApproval[]]
    return first.because === undefined ? first : { ...first, message: uncheckedText(all.length, first.because) }
  })
}

/** How many files of a change were not evaluated, and why. */
export function uncheckedText(files: number, why: string): string {
  return `${files} changed ${files === 1 ? 'file was' : 'files were'} not checked: ${why}`
}
