import { andMore } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { display } from '../../kube/object.ts'
import type { Finding, FindingPolicy, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { type FindingGroup, groupApprovals, groupFailures, groupFindings } from '../../verdict/summary.ts'
import { changesLines } from '../changes.ts'
import { assumedClusters } from '../outcome.ts'
import { blastRadius } from '../policy-impact.ts'
import { count, fixText, isNew, resultLine, stateText } from '../text/findings.ts'
import { placeOf } from '../text/place.ts'
import { type Elsewhere, elsewhereText, type FormatContext, NOTHING_ELSEWHERE } from './format-context.ts'
import { sarifText } from './sarif.ts'
import { terminalText } from './terminal.ts'

const property = (text: string) => data(visible(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** As the runner decodes it; everything else of a line is taken as it is. */
const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const textsOf = (group: FindingGroup, here: string) => ({ more: reachedBy(group), fix: fixText(group, here) })

/** Every way to print a verdict, by the name that `-o` takes. */
export const formats: ReadonlyMap<string, (verdict: Verdict, context: FormatContext) => string> = new Map([
  ['text', (verdict, context) => terminalText(verdict, context.here, context)],
  [
    'json',
    (verdict, { evaluatedAs, changes }) =>
      `${JSON.stringify({ ...verdictJson(verdict), changes, evaluatedAs }, null, 2)}\n`,
  ],
  ['sarif', sarifText],
  ['github', githubText],
])

/** The object that `check -o json` prints: exactly the keys of the command line's contract, in its order. */
export function verdictJson(verdict: Verdict): Record<string, unknown> {
  const impact = blastRadius(verdict)
  return {
    ...pick(verdict, 'result', 'summary'),
    clusters: verdict.clusters.map(one => pick(one, 'name', 'path', 'how')),
    tenants: verdict.tenants.map(one => pick(one, 'name', 'clusters', 'namespaces', 'identities')),
    violations: verdict.violations.map(findingJson),
    warnings: verdict.warnings.map(findingJson),
    errors: verdict.errors.map(failureJson),
    notSeen: verdict.notSeen.map(one => pick(one, 'source', 'url', 'reason')),
    notReached: verdict.notReached.map(({ id, origin, reason }) => ({ id, origin: originJson(origin), reason })),
    requiredApprovals: verdict.requiredApprovals.map(one => pick(one, 'rule', 'message', 'path')),
    ...pick(verdict, 'changedFiles', 'evaluated', 'filter'),
    ...(impact.length > 0 ? { policyImpact: impact } : {}),
    ...(verdict.notEvaluated.length > 0 ? { notEvaluated: verdict.notEvaluated.map(findingJson) } : {}),
  }
}

/** These keys of an object, as far as it has them. */
function pick<T extends object, K extends keyof T>(from: T, ...keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(keys.flatMap(key => (from[key] === undefined ? [] : [[key, from[key]]]))) as Partial<
    Pick<T, K>
  >
}

function findingJson(finding: Finding): Record<string, unknown> {
  const { object, field, origin, via, policy } = finding
  return {
    ...pick(finding, 'rule', 'severity', 'state', 'cluster', 'tenant', 'identity'),
    object: pick(object, 'apiVersion', 'kind', 'namespace', 'name'),
    field,
    origin: originJson(origin),
    via: via.map(step => pick(step, 'step', 'file', 'line')),
    ...pick(finding, 'message', 'fix', 'fingerprint', 'isBefore', 'cause'),
    ...(policy ? { policy: policyJson(policy) } : {}),
  }
}

function policyJson(policy: FindingPolicy) {
  return {
    ...pick(policy, 'kind', 'namespace', 'name', 'rule', 'action'),
    origin: pick(policy.origin, 'repository', 'file', 'line'),
    objectUnchanged: policy.isUnchanged === true,
  }
}

function failureJson(failure: NodeFailure): Record<string, unknown> {
  return {
    ...pick(failure, 'code', 'state', 'cluster', 'tenant', 'node', 'message', 'fix'),
    origin: originJson(failure.origin),
    ...pick(failure, 'fingerprint', 'hides', 'since'),
  }
}

const originJson = (origin: Finding['origin']) => pick(origin, 'repository', 'file', 'line', 'column')

/**
 * The verdict as workflow commands of GitHub Actions: `::error` for what is new and blocks, `::warning` for warnings,
 * `::notice` for existing ones. Only files of the repository at hand are named as files. Source: GitHub's "Workflow commands".
 */
export function githubText(verdict: Verdict, { here, elsewhere = NOTHING_ELSEWHERE, changes }: FormatContext): string {
  const lines = [
    ...groupFailures(verdict.errors).map(group => {
      const { failure, nodes } = group
      return command(isNew(failure) ? 'error' : 'notice', failure.code, failure, here, { more: whoseOf(nodes) })
    }),
    ...groupApprovals(verdict.requiredApprovals).map(({ rule, path, message }) => {
      const properties = `file=${property(path)},title=${property(`bailiwick: required approval: ${rule}`)}`
      return `::warning ${properties}::${data(`${visible(message, 2000)}\nHave a fleet admin approve the pull request.`)}`
    }),
    ...groupFindings(verdict.violations.filter(one => one.state !== 'fixed')).map(group =>
      command(isNew(group.finding) ? 'error' : 'notice', group.finding.rule, group.finding, here, textsOf(group, here)),
    ),
    ...groupFindings(verdict.warnings.filter(isNew)).map(group =>
      command('warning', group.finding.rule, group.finding, here, textsOf(group, here)),
    ),
    ...verdict.notSeen.map(({ source, url, reason }) => {
      const at = url === '' ? '' : ` (${visible(url)})`
      return `::notice title=not visible::${data(`${visible(source)}${at}: ${visible(reason)}`)}`
    }),
    ...groupFindings(verdict.notEvaluated).map(
      ({ finding }) => `::notice title=not evaluated::${data(visible(finding.message, 2000))}`,
    ),
    ...notReachedNotice(verdict),
    ...assumedNotice(verdict),
    ...elsewhereCommand(elsewhere),
    ...(changes ? [`::notice title=changes::${data(changesLines(changes).join('\n'))}`] : []),
    // a line of our own never starts like a command
    `bailiwick: ${resultLine({ verdict, hidden: elsewhere })}`,
  ]
  return `${lines.join('\n')}\n`
}

/** One notice for all of them: each one may be old, and a run shows only so many. */
function notReachedNotice({ notReached }: Verdict): string[] {
  if (notReached.length === 0) return []
  const names = notReached.slice(0, 10).map(({ id, reason }) => `${visible(id)}: ${visible(reason)}`)
  const left = notReached.length - names.length
  return [`::notice title=not reached::${data([...names, ...(left > 0 ? [`and ${left} more`] : [])].join('\n'))}`]
}

function assumedNotice(verdict: Verdict): string[] {
  const assumed = assumedClusters(verdict)
  return assumed === undefined ? [] : [`::notice title=assumed cluster::${data(visible(assumed, 1000))}`]
}

function elsewhereCommand(elsewhere: Elsewhere): string[] {
  const text = elsewhereText(elsewhere)
  const name = elsewhere.violations + elsewhere.errors > 0 ? 'error' : 'notice'
  return text === undefined ? [] : [`::${name} title=bailiwick%3A not listed::${data(text)}`]
}

const MAX_OBJECTS = 20
const MAX_NODES = 5

/** The objects of a cause with several, and what follows from it. */
function reachedBy({ objects, followers }: FindingGroup): string {
  const shown = objects.slice(0, MAX_OBJECTS).map(({ object }) => display(object))
  const several = `\nObjects: ${visible(shown.join(', '), 2000)}${andMore(objects.length - shown.length)}`
  const following = followers.map(
    one => `\nFollows from this: ${one.finding.rule} for ${count(one.objects.length, 'object')}`,
  )
  return `${objects.length > 1 ? several : ''}${following.join('')}`
}

function whoseOf(nodes: readonly string[]): string {
  const shown = nodes.slice(0, MAX_NODES).join(', ')
  return shown === '' ? '' : `\nKustomizations: ${visible(shown, 1000)}${andMore(nodes.length - MAX_NODES)}`
}

function command(
  name: string,
  id: string,
  item: Finding | NodeFailure,
  here: string,
  { more = '', fix = item.fix }: { more?: string; fix?: string } = {},
): string {
  const { repository, file, line, column } = item.origin
  // a line of the base is another one of the head
  const isHere = file !== '' && (repository === here || repository === '') && !('isBefore' in item)
  const place = isHere ? '' : placeOf(item.origin, here)
  const properties = [
    ...(isHere ? [`file=${property(file)}`, `line=${Math.max(1, line)}`, `col=${Math.max(1, column)}`] : []),
    `title=${property(`bailiwick: ${id}${item.state === 'new' ? '' : ` (${stateText(item.state)})`}`)}`,
  ]
  const message = `${place === '' ? '' : `${visible(place)}: `}${visible(item.message, 2000)}\n${visible(fix, 1000)}${more}`
  return `::${name} ${properties.join(',')}::${data(message)}`
}
