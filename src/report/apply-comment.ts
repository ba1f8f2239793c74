import { code, htmlCode, prose } from '../base/markup.ts'
import { andMore } from '../base/name-list.ts'
import { display } from '../kube/object.ts'
import { objectText, partsOf } from './apply-report.ts'
import type { ClusterPage, NodePhase, NodeState } from './cluster-page.ts'
import { count } from './text/findings.ts'
import { fitBudget, fold, type Section } from './text/fit-budget.ts'
import { fileAddress, placeOf } from './text/place.ts'

/** Marks our one comment about an apply. Anyone can write it: match the author too, and keep no state in it. */
export const APPLIED_MARKER = '<!-- bailiwick:applied -->'

interface CommentFacts {
  /** Address of the repository that the comment is in, and the commit that was merged. */
  readonly here: string
  readonly commit: string
  /** Logins of the authors of this change's commits that touched the node's files, by the node's key. */
  readonly authors: ReadonlyMap<string, readonly string[]>
  /** Address of the page of a cluster; undefined where pages are off. */
  readonly page: (cluster: string) => string | undefined
}

/** A login as GitHub gives it; anything else is not mentioned. */
const LOGIN = /^[A-Za-z\d](?:[A-Za-z\d]|-(?=[A-Za-z\d])){0,38}$/
const MAX_MENTIONED = 5

/**
 * What became of a merged change on the clusters: Kustomizations that failed, wait or are held by this commit, and what it
 * changed. Undefined where the commit changed nothing anywhere. Only the authors of a failed node's files are mentioned. It holds no
 * time that passes: equal states have equal texts.
 */
export function applyComment(pages: readonly ClusterPage[], facts: CommentFacts): string | undefined {
  const clusters = pages.flatMap(page => {
    const nodes = page.nodes.filter(one => one.commit === facts.commit && one.repository === facts.here)
    return nodes.length > 0 ? [{ page, nodes }] : []
  })
  const all = clusters.flatMap(({ nodes }) => nodes)
  const news = all.filter(one => isNews(one, facts.commit))
  if (news.length === 0) return undefined
  const changed = news.filter(one => one.phase === 'applied' && one.objects.length > 0)
  const existing = all.filter(one => isStuck(one) && !isNews(one, facts.commit))
  const head = [
    `${APPLIED_MARKER}\n${clusters.some(({ page }) => page.problem !== undefined) ? '❌ **Not applied**' : headline(all, news)}`,
    clusters.map(one => clusterLine(one.page, one.nodes, facts)).join('\n'),
    existing.length === 0
      ? ''
      : `${count(existing.length, 'Kustomization')} held or failed before this commit, and not because of it.`,
  ]
  const sections: Section[] = [
    ...(['failed', 'held', 'waiting'] as const).flatMap(phase =>
      news
        .filter(one => one.phase === phase)
        .map(one => ({ text: stuckText(one, facts), label: `${phase} Kustomization` })),
    ),
    ...changed.map(one => ({ text: changedText(one), label: 'changed Kustomization' })),
    ...driftSection(
      clusters.map(({ page }) => page),
      news,
    ),
  ]
  return fitBudget(head, sections, { more: ' The page of the cluster has the rest.' })
}

const isStuck = ({ phase }: NodeState): boolean => phase === 'failed' || phase === 'held'

function isNews(one: NodeState, commit: string): boolean {
  return one.since === commit || (one.phase === 'applied' && one.objects.length > 0)
}

function headline(all: readonly NodeState[], news: readonly NodeState[]): string {
  const number = (phase: NodePhase, among = news) => among.filter(one => one.phase === phase).length
  const whole = count(all.length, 'Kustomization')
  if (number('failed') > 0) return `❌ **${number('failed')} of ${whole} failed**`
  if (number('held') > 0) return `✋ **${number('held')} of ${whole} held**`
  if (number('pending') + number('waiting') > 0) return `⏳ **${number('applied', all)} of ${whole} applied**`
  return `✅ **Applied: ${whole}**`
}

const PHASES: readonly NodePhase[] = ['applied', 'pending', 'waiting', 'held', 'failed']

function clusterLine({ cluster, problem }: ClusterPage, nodes: readonly NodeState[], { page }: CommentFacts): string {
  const parts = partsOf(PHASES, phase => nodes.filter(one => one.phase === phase).length)
  const address = page(cluster)
  const what = problem === undefined ? parts.join(', ') : prose(problem)
  return `- ${code(cluster, 80)}: ${what}${address === undefined ? '' : ` · [details](${address})`}`
}

const ICONS = { failed: '❌', held: '✋', waiting: '⏳', pending: '⏳', applied: '✅' } as const

function stuckText(one: NodeState, facts: CommentFacts): string {
  const { key, phase, reason, place, objects, user } = one
  const at = linkOf(place, facts)
  const why = reason === undefined ? '' : `: ${prose(reason)}`
  const as = user === '' || phase !== 'failed' ? '' : ` as ${code(user)}`
  const lines = objects
    .filter(({ action }) => phase === 'failed' && action === 'refused')
    .map(item => `- ${objectText(item, where => linkOf(where, facts))}`)
  const asked = mentions(facts.authors.get(key) ?? [])
  return [
    `${ICONS[phase]} ${code(key)}${at} ${phase}${as}${why}`,
    lines.join('\n'),
    asked === '' ? '' : `${asked}: this Kustomization reads files that you changed here.`,
  ]
    .filter(text => text !== '')
    .join('\n\n')
}

/** Lines of another repository may be read by fewer people than those of this one. */
function linkOf(place: NodeState['place'], { here, commit }: CommentFacts): string {
  if (place === undefined || place.repository !== here || place.file === '') return ''
  const text = code(placeOf(place, here))
  const address = fileAddress(here, commit, place.file, place.line)
  return address === undefined
    ? ` at ${text}`
    : ` at [${text}](${address.replace(/[()]/g, one => (one === '(' ? '%28' : '%29'))})`
}

function mentions(logins: readonly string[]): string {
  return [...new Set(logins)]
    .filter(login => LOGIN.test(login))
    .slice(0, MAX_MENTIONED)
    .map(login => `@${login}`)
    .join(', ')
}

function changedText({ key, objects, counts }: NodeState): string {
  const left = CHANGES.reduce((sum, one) => sum + (counts[one] ?? 0), 0) - objects.length
  const lines = objects.map(({ action, object }) => `- ${action} ${code(display(object))}`)
  if (left > 0 && objects.length > 0) lines.push(`- …${andMore(left)}`)
  const summary = [`${ICONS.applied} ${htmlCode(key, 150)}`, ...partsOf(CHANGES, action => counts[action] ?? 0)].join(
    ' · ',
  )
  return fold(summary, lines.join('\n'))
}

const CHANGES = ['created', 'configured', 'pruned'] as const

/** How many corrected objects a comment lists. */
const MAX_DRIFT = 20

/** What was put back of the nodes that this commit changed. */
function driftSection(pages: readonly ClusterPage[], news: readonly NodeState[]): Section[] {
  const keys = new Set(news.map(({ key }) => key))
  const found = pages.flatMap(({ drift }) => drift.filter(({ node }) => keys.has(node)))
  if (found.length === 0) return []
  const lines = found.slice(0, MAX_DRIFT).map(driftLine)
  const left = found.length - lines.length
  if (left > 0) lines.push(`- and ${count(left, 'more object')}`)
  return [{ text: fold(`Corrected drift (${found.length})`, lines.join('\n')), label: 'list of corrected drift' }]
}

function driftLine({ node, object, change, fields, managers, count: times }: ClusterPage['drift'][number]): string {
  const what =
    change === 'deleted' ? 'deleted' : fields.length === 0 ? 'owner of fields' : fields.map(one => code(one)).join(', ')
  const who = managers.length === 0 ? '' : ` by ${managers.map(one => code(one)).join(', ')}`
  return `- ${code(display(object))} of ${code(node)}: ${what}${who}${times > 1 ? `, ${times} times` : ''}`
}
