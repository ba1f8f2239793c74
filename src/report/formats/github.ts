import { groupApprovals } from '../../evaluate/changed/group-approvals.ts'
import { type FindingGroup, groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { display } from '../../kube/object.ts'
import { andMore } from '../../message/and-more.ts'
import { visible } from '../../message/visible.ts'
import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { assumedClusters } from '../assumed-clusters.ts'
import { changesLines } from '../changes/changes-lines.ts'
import { fixText } from '../text/fix-text.ts'
import { firstOf, groupFailures } from '../text/group-failures.ts'
import { count, headlineOf, isNew, stateText } from '../text/headline.ts'
import { placeOf } from '../text/place.ts'
import { type Elsewhere, elsewhereText, NOTHING_ELSEWHERE } from './elsewhere.ts'
import type { FormatContext } from './format-context.ts'

/**
 * The verdict as workflow commands of GitHub Actions: `::error` for what is new and blocks, `::warning` for warnings,
 * `::notice` for what stands. Only files of the repository at hand are named as files. Source: GitHub's "Workflow commands".
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
    `bailiwick: ${verdict.result}: ${headlineOf({ verdict, hidden: elsewhere })}`,
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

const textsOf = (group: FindingGroup, here: string) => ({ more: reachedBy(group), fix: fixText(group, here) })

/** The objects of a cause with several, and what follows from it. */
function reachedBy({ objects, followers }: FindingGroup): string {
  const { shown, left } = firstOf(
    objects.map(({ object }) => display(object)),
    20,
  )
  const several = `\nObjects: ${visible(shown.join(', '), 2000)}${andMore(left)}`
  const following = followers.map(
    one => `\nFollows from this: ${one.finding.rule} for ${count(one.objects.length, 'object')}`,
  )
  return `${objects.length > 1 ? several : ''}${following.join('')}`
}

function whoseOf(nodes: readonly string[]): string {
  const { shown, left } = firstOf(nodes)
  return shown.length === 0 ? '' : `\nKustomizations: ${visible(shown.join(', '), 1000)}${andMore(left)}`
}

function command(
  name: string,
  id: string,
  item: Finding | NodeFailure,
  here: string,
  { more = '', fix = item.fix }: { more?: string; fix?: string } = {},
): string {
  const { repository, file, line, column } = item.origin
  const isHere = file !== '' && (repository === here || repository === '')
  const place = isHere ? '' : placeOf(item.origin, here)
  const properties = [
    ...(isHere ? [`file=${property(file)}`, `line=${Math.max(1, line)}`, `col=${Math.max(1, column)}`] : []),
    `title=${property(`bailiwick: ${id}${item.state === 'new' ? '' : ` (${stateText(item.state)})`}`)}`,
  ]
  const message = `${place === '' ? '' : `${visible(place)}: `}${visible(item.message, 2000)}\n${visible(fix, 1000)}${more}`
  return `::${name} ${properties.join(',')}::${data(message)}`
}

/** As the runner decodes it; everything else of a line is taken as it is. */
const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string) => data(visible(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
