import { groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { display } from '../../kube/object.ts'
import type { SourceLine } from '../../origin.ts'
import type { Finding, GrantedWaiver, Verdict } from '../../rules/model/finding.ts'
import { groupFailures } from '../text/group-failures.ts'

/** A finding of one tenant on the branch that the clusters follow: one for each cause. Plain JSON of bounded size. */
export interface ListedFinding {
  readonly kind: 'violation' | 'warning' | 'error'
  /** `open`: neither accepted by the baseline nor waived. */
  readonly state: 'open' | 'accepted' | 'waived'
  /** Id of a rule, or the code of an error. */
  readonly rule: string
  readonly severity: Finding['severity']
  /** '' for the platform. */
  readonly tenant: string
  readonly clusters: readonly string[]
  /** Clusters beyond the listed ones; absent: none. */
  readonly moreClusters?: number
  /** The first object, or the first Kustomization of an error; '' for what is about none. */
  readonly object: string
  /** How many objects the cause reaches. */
  readonly objects: number
  readonly message: string
  readonly origin: SourceLine
  readonly waiver?: GrantedWaiver
}

/** Longer messages are cut: the check of the commit has them whole. */
const MAX_TEXT = 500
/** Clusters that are stored with a finding, and can be filtered by. */
const MAX_CLUSTERS = 200

/**
 * Findings of a branch by tenant: those with the most open violations first, the platform like a tenant; of each the open
 * ones first, then by severity. The findings of one tenant in each step.
 */
export function* fleetFindings({ violations, warnings, errors }: Verdict): Generator<void, ListedFinding[]> {
  const present = [...violations, ...warnings].filter(({ state }) => state !== 'fixed')
  const found: ListedFinding[] = []
  for (const own of Map.groupBy(present, ({ tenant }) => tenant).values()) {
    yield
    found.push(...groupFindings(own).map(listed))
  }
  const failed = [...Map.groupBy(errors, ({ tenant }) => tenant)].flatMap(([tenant, own]) =>
    groupFailures(own).map(({ failure, nodes, clusters }) => ({
      kind: 'error' as const,
      state: failure.state === 'new' ? ('open' as const) : ('accepted' as const),
      ...{ rule: failure.code, severity: 'high' as const, tenant, ...listedClusters(clusters) },
      ...{ object: nodes[0] ?? '', objects: nodes.length, message: short(failure.message) },
      origin: placeOf(failure.origin),
    })),
  )
  const byTenant = [...Map.groupBy([...failed, ...found], ({ tenant }) => tenant).values()]
  byTenant.sort((a, b) => weightOf(b) - weightOf(a) || (a[0]!.tenant < b[0]!.tenant ? -1 : 1))
  return byTenant.flatMap(own => [...own].sort((a, b) => orderOf(a) - orderOf(b)))
}

function listed({ finding, objects, clusters, followers }: ReturnType<typeof groupFindings>[number]): ListedFinding {
  const { rule, level, state, severity, tenant, message, origin, waiver } = finding
  const followed = followers.reduce((sum, one) => sum + one.objects.length, 0)
  return {
    kind: level,
    state: state === 'new' ? 'open' : state === 'waived' ? 'waived' : 'accepted',
    ...{ rule, severity, tenant, ...listedClusters(clusters), object: display(finding.object) },
    ...{ objects: objects.length + followed, message: short(message), origin: placeOf(origin) },
    ...(waiver ? { waiver: { ...waiver, reason: short(waiver.reason) } } : {}),
  }
}

const short = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

function listedClusters(names: readonly string[]): Pick<ListedFinding, 'clusters' | 'moreClusters'> {
  const moreClusters = names.length - MAX_CLUSTERS
  return { clusters: names.slice(0, MAX_CLUSTERS), ...(moreClusters > 0 ? { moreClusters } : {}) }
}

const placeOf = ({ repository, file, line, column }: Finding['origin']) => ({ repository, file, line, column })

/** What is open comes before any number of what is accepted or waived, and a warning weighs nothing. */
const weightOf = (own: readonly ListedFinding[]) =>
  own.reduce((sum, { kind, state }) => sum + (kind === 'warning' ? 0 : state === 'open' ? 100_000 : 1), 0)

const KINDS = ['error', 'violation', 'warning'] as const
const ORDER = ['open', 'accepted', 'waived'] as const

/** Within one kind and state the order of the groups stays: by severity. */
const orderOf = (one: ListedFinding) => {
  const isWarning = one.kind === 'warning' ? 10 : 0
  return isWarning + ORDER.indexOf(one.state) * 3 + KINDS.indexOf(one.kind)
}
