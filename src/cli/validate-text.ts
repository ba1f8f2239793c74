import { firstNames } from '../message/and-more.ts'
import { visible } from '../message/visible.ts'
import type { Origin } from '../origin.ts'
import { count } from '../report/text/headline.ts'
import { placeOf } from '../report/text/place.ts'
import type { ComparedVersion } from '../rules/schema/support/compared-version.ts'

const MAX_KINDS = 10

/** A field that the API server would refuse, or that Flux drops. */
export interface FieldProblem {
  readonly place: Origin
  readonly object: string
  readonly field: string
  readonly kind: string
  /** A warning: Flux drops the field, or the cluster may know another release of the kind. */
  readonly level: 'violation' | 'warning'
  readonly message: string
  readonly fix: string
}

/** What schemas report for one cluster. */
export interface ClusterProblems {
  readonly cluster: string
  readonly kubernetes: string
  /** Neither asked for nor declared. */
  readonly isAssumed: boolean
  readonly version: ComparedVersion
  readonly objects: number
  /** How many objects were not compared, by `<apiVersion> <kind>`. */
  readonly notCompared: Readonly<Record<string, number>>
  /** Values of custom kinds of which a schema says something that could not be decided. */
  readonly undecided: number
  /** Sources whose objects are not visible. */
  readonly notVisible: readonly string[]
  readonly refused: readonly FieldProblem[]
}

/** The lines of `bailiwick validate`: clusters with violations first, and of each cluster its violations first. */
export function validateLines(results: readonly ClusterProblems[], here: string): string[] {
  const weight = ({ refused }: ClusterProblems) => (violationsOf(refused).length > 0 ? 0 : refused.length > 0 ? 1 : 2)
  return [...results].sort((a, b) => weight(a) - weight(b)).flatMap(one => clusterLines(one, here))
}

function clusterLines(result: ClusterProblems, here: string): string[] {
  const { cluster, kubernetes, isAssumed, objects, notCompared, undecided, notVisible, refused } = result
  const kinds = Object.entries(notCompared)
  const others = kinds.reduce((sum, [, number]) => sum + number, 0)
  const violations = violationsOf(refused)
  const warnings = refused.filter(({ level }) => level === 'warning')
  const counts = [
    count(objects, 'object'),
    count(violations.length, 'violation'),
    count(warnings.length, 'warning'),
  ].join(', ')
  return [
    visible(`${cluster} (Kubernetes ${kubernetes}${isAssumed ? ', assumed' : ''}): ${counts}`),
    ...[...violations, ...warnings].flatMap(one => fieldLines(one, here)),
    ...(others > 0 ? [visible(`  not compared: ${count(others, 'object')} (${namesOf(kinds)})`, 1000)] : []),
    ...(undecided > 0 ? [`  undecided: ${count(undecided, 'value')} of custom kinds`] : []),
    ...notVisible.map(key => visible(`  not visible: ${key}`)),
  ]
}

const namesOf = (kinds: readonly [string, number][]) =>
  firstNames(
    kinds.map(([name, objects]) => (objects === 1 ? name : `${objects} ${name}`)),
    MAX_KINDS,
  )

function fieldLines({ place, level, message, fix }: FieldProblem, here: string): string[] {
  // on a line of its own: editors and terminals open a path only if it is whole
  const at = `  ${placeOf(place, here)}:${place.column}: ${level}`
  return [visible(at, 300), visible(`    ${message} ${fix}`, 1000)]
}

const violationsOf = (refused: readonly FieldProblem[]) => refused.filter(({ level }) => level === 'violation')

/** The same as JSON, in the order of the fleet. */
export function validateJson(results: readonly ClusterProblems[]): string {
  const clusters = results.map(({ refused, version: _version, ...rest }) => ({
    ...rest,
    refused: refused.map(({ place: { repository, file, line, column }, ...one }) => ({
      ...one,
      ...{ repository, file, line, column },
    })),
  }))
  return `${JSON.stringify({ clusters }, null, 2)}\n`
}
