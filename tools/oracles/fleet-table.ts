import type { Evaluation, Finding, NodeFailure, Verdict } from '../../src/rules/model/finding.ts'

/** A change of a fleet with its verdict. */
export type Evaluated = Evaluation & { readonly commit: string; readonly subject: string; readonly seconds: number }

/** The first result of a repository in figures. */
interface FirstResult {
  /** `no fleet`: neither a cluster nor a Kustomization of Flux is in the repository. */
  readonly result: string
  readonly summary: string
  readonly clusters: number
  /** Clusters that nothing but the place of Kustomizations speaks for. */
  readonly assumed: readonly string[]
  readonly tenants: number
  readonly reached: number
  readonly present: number
  readonly objects: number
  readonly notSeen: number
  readonly holes: number
  readonly errors: ReadonlyMap<string, number>
  readonly violations: ReadonlyMap<string, number>
  readonly warnings: ReadonlyMap<string, number>
}

/** One repository as it was evaluated. */
export interface Surveyed {
  readonly name: string
  readonly seconds: number
  /** The state by itself. */
  readonly verdict: Verdict
  readonly first: FirstResult
  readonly changes: readonly Evaluated[]
}

/** What a first look says, counted. */
export function firstResult(verdict: Verdict): FirstResult {
  return {
    result: isNoFleet(verdict) ? NO_FLEET : verdict.result,
    summary: verdict.summary,
    clusters: verdict.clusters.length,
    assumed: verdict.clusters.filter(({ how }) => how === 'assumed').map(({ name }) => name),
    tenants: verdict.tenants.length,
    ...verdict.evaluated.kustomizations,
    objects: verdict.evaluated.objects,
    notSeen: verdict.notSeen.length,
    holes: verdict.evaluated.holes,
    errors: counted(verdict.errors.map(causeOf)),
    violations: counted(verdict.violations.map(one => one.rule)),
    warnings: counted(verdict.warnings.map(one => one.rule)),
  }
}

export const NO_FLEET = 'no fleet'

/** A change of what is no fleet yet, or none at all, is none of a fleet. */
const isNoFleet = ({ clusters, evaluated }: Verdict): boolean =>
  clusters.length === 0 && evaluated.kustomizations.present === 0

/** The changes of a repository in which something could be evaluated. */
export const changesOfFleet = ({ changes }: Surveyed): Evaluated[] => changes.filter(one => !isNoFleet(one.verdict))

const COLUMNS = [
  'repository',
  'result',
  'clusters',
  'reached',
  'objects',
  'tenants',
  'not visible',
  'holes',
  'errors',
  'violations',
  'warnings',
  'changes',
  'pass',
  'fail',
  'error',
  'approvals',
  'seconds',
]

/** One row for each repository. */
export function printTable(surveyed: readonly Surveyed[], withHead: boolean): void {
  if (withHead) console.log(`| ${COLUMNS.join(' | ')} |\n|${COLUMNS.map(() => '---').join('|')}|`)
  for (const one of surveyed) {
    const { name, first, seconds } = one
    const changes = changesOfFleet(one)
    const of = (result: string) => changes.filter(({ verdict }) => verdict.result === result).length
    const total = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0)
    const reached = first.reached === first.present ? first.reached : `${first.reached}/${first.present}`
    const row = [name, first.result, first.clusters, reached, first.objects, first.tenants, first.notSeen, first.holes]
    const found = [total(first.errors), total(first.violations), total(first.warnings)]
    const asking = changes.filter(asksApproval).length
    const replayed = [changes.length, of('pass'), of('fail'), of('error'), asking, seconds.toFixed(1)]
    console.log(`| ${[...row, ...found, ...replayed].join(' | ')} |`)
  }
}

/** What the first result is made of: errors by cause, findings by rule. */
export function printViolations({ first }: Surveyed): void {
  console.log(`  ${first.summary}`)
  for (const [cause, count] of first.errors) console.log(`  error ${count} x ${cause}`)
  for (const [rule, count] of first.violations) console.log(`  violation ${count} x ${rule}`)
  for (const [rule, count] of first.warnings) console.log(`  warning ${count} x ${rule}`)
}

/** Passes only once a fleet admin approved it. */
export const asksApproval = ({ verdict }: Evaluated) =>
  verdict.result === 'pass' && verdict.requiredApprovals.length > 0

/** Every change that did not pass or asks for an approval, with what is new in it. */
export function printBlocks(surveyed: Surveyed): void {
  for (const change of changesOfFleet(surveyed)) {
    const { commit, subject, verdict } = change
    if (verdict.result === 'pass' && !asksApproval(change)) continue
    console.log(`  ${verdict.result} ${commit.slice(0, 10)} ${printable(subject)}`)
    const lines = [
      ...verdict.errors.filter(isNew).map(one => `error ${causeOf(one)} at ${placeOf(one)}`),
      ...verdict.violations
        .filter(isNew)
        .map(one => `violation ${one.rule} ${objectOf(one)} at ${placeOf(one)}: ${one.message}`),
      ...verdict.requiredApprovals.map(one => `approval ${one.rule} ${one.path}: ${one.because ?? one.message}`),
    ]
    for (const [line, count] of counted(lines)) console.log(`    ${count > 1 ? `${count} x ` : ''}${printable(line)}`)
  }
}

/** Every finding of a rule, by itself and new in a change, as its reader would see it. */
export function printRule({ verdict, changes }: Surveyed, rule: string): void {
  for (const [where, found] of [
    ['now', verdict] as const,
    ...changes.map(one => [one.commit.slice(0, 10), one.verdict] as const),
  ]) {
    for (const one of [...found.violations, ...found.warnings]) {
      if (one.rule !== rule || !isNew(one)) continue
      console.log(
        `  ${one.level} ${where} ${one.node} ${objectOf(one)} at ${placeOf(one)}: ${printable(one.message, 1200)}`,
      )
    }
  }
}

export const isNew = ({ state }: { readonly state: string }) => state === 'new'

const causeOf = ({ code, message }: NodeFailure) => `${code}: ${message.slice(0, 160)}`

const placeOf = ({ origin }: Finding | NodeFailure) => `${origin.file}:${origin.line}`

const objectOf = ({ object }: Finding) => `${object.kind} ${object.namespace}/${object.name}`

const printable = (text: string, most = 400) => text.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, most)

export function counted(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return new Map([...counts].sort(([, a], [, b]) => b - a))
}
