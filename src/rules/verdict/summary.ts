import type { Fleet } from '../../fleet/fleet.ts'
import type { Finding, NodeFailure } from '../finding.ts'

/** One sentence that a person understands: what is new, whose, where. */
export function summaryOf(fleet: Fleet, violations: readonly Finding[], failures: readonly NodeFailure[]): string {
  const broken = failures.filter(isNew)
  if (broken.length > 0) return `${counted(broken.length, 'problem')}${scope(broken)} could not be decided`
  const bad = violations.filter(isNew)
  const standing = [...violations, ...failures].filter(item => item.state === 'standing').length
  const waived = violations.filter(item => item.state === 'waived').length
  const legacy = standing > 0 ? `; ${counted(standing, 'standing finding')}` : ''
  const rest = legacy + (waived > 0 ? `; ${counted(waived, 'waived violation')}` : '')
  if (bad.length > 0) return `${counted(bad.length, 'violation')}${scope(bad)}${rest}`
  const nodes = counted(fleet.nodes.length, 'Kustomization')
  return `No new violation in ${nodes} on ${counted(fleet.clusters.length, 'cluster')}${rest}`
}

const isNew = ({ state }: { readonly state: string }) => state === 'new'

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

function scope(items: readonly { readonly tenant: string; readonly cluster: string }[]): string {
  const tenants = [...new Set(items.map(item => item.tenant))]
  const clusters = [...new Set(items.map(item => item.cluster))].filter(name => name !== '')
  const one = tenants[0] === '' ? 'the platform' : `tenant ${tenants[0]}`
  const whose = tenants.length === 1 ? one : counted(tenants.filter(name => name !== '').length, 'tenant')
  const where = clusters.length === 1 ? clusters[0] : counted(clusters.length, 'cluster')
  return clusters.length === 0 ? '' : ` of ${whose} on ${where}`
}
