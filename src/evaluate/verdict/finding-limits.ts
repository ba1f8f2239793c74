import { hashOf } from '../../facts/fingerprint.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { Finding, NodeFailure } from '../../rules/model/finding.ts'
import { failureOf } from './finding-of.ts'

/** Findings of one tenant about one node, cluster or repository, and in all. The platform's own are not limited. */
const MAX_OF_PART = 5_000
const MAX_OF_TENANT = 20_000

/** What is found while rules are asked. */
export interface RuleResults {
  readonly findings: LimitedFindings<Finding>
  readonly failures: LimitedFindings<NodeFailure>
}

export function emptyFound(of: 'part' | 'tenant'): RuleResults {
  return { findings: new LimitedFindings(of), failures: new LimitedFindings(of) }
}

/** All of it, with an error of each tenant of whom something is left out. */
export function listed({ findings, failures }: RuleResults): { findings: Finding[]; failures: NodeFailure[] } {
  return { findings: findings.all, failures: [...failures.all, ...findings.failures(), ...failures.failures()] }
}

/** What is left out of the findings of a tenant: at which node that began, and what it was, as one text. */
interface LeftOut {
  readonly node: Pick<FleetNode, 'key' | 'cluster' | 'tenant'>
  readonly origin: NodeFailure['origin']
  /** Other findings that are left out give another text: it is what the error hides. */
  text: string
}

/** Findings or errors up to a limit for each tenant: nobody takes the memory that the verdicts of the others need. */
class LimitedFindings<T extends Finding | NodeFailure> {
  readonly all: T[] = []
  readonly #limit: number
  readonly #counts = new Map<string, number>()
  readonly #leftOut = new Map<string, LeftOut>()

  constructor(of: 'part' | 'tenant') {
    this.#limit = of === 'part' ? MAX_OF_PART : MAX_OF_TENANT
  }

  add(finding: T): void {
    const count = (this.#counts.get(finding.tenant) ?? 0) + 1
    this.#counts.set(finding.tenant, count)
    if (finding.tenant === '' || count <= this.#limit) {
      this.all.push(finding)
      return
    }
    const { tenant, cluster, node: key, fingerprint, origin } = finding
    const hides = 'hides' in finding ? (finding.hides ?? '') : ''
    const known = this.#leftOut.get(tenant) ?? { node: { key, cluster, tenant }, origin, text: '' }
    known.text = hashOf([known.text, fingerprint, hides])
    this.#leftOut.set(tenant, known)
  }

  /** An evaluation error of each tenant of whom findings are left out. */
  failures(): NodeFailure[] {
    return [...this.#leftOut.values()].map(({ node, origin, text }) => {
      const message = `tenant ${node.tenant} has more than ${this.#limit} findings, so not all of them are listed`
      const fix = 'Fix the findings that are listed first.'
      return failureOf(node, { code: 'render-limits', message, fix, hides: text }, origin)
    })
  }
}
