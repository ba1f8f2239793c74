import { countFindings } from '../evaluate/verdict/group-findings.ts'
import { andMore } from '../message/and-more.ts'
import { code } from '../message/markdown.ts'
import type { EvaluatedNode, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { count, isNew } from './text/headline.ts'
import { shortUrl } from './text/place.ts'

const MAX_REPOSITORIES = 30
const MAX_CLUSTERS = 10

/**
 * One Markdown line that lists the repositories, other than `here`, whose own Kustomizations a change newly breaks:
 * `Would break: acme/dev-team (3 new violations on production)`. `''` for none.
 */
export function wouldBreak(verdict: Verdict, nodes: readonly EvaluatedNode[], here: string): string {
  const urls = new Map(nodes.map(node => [node.key, node.source.url]))
  const broken = new Map<string, { violations: Finding[]; errors: NodeFailure[] }>()
  const of = (node: string) => {
    const url = urls.get(node)
    if (url === undefined || url === here) return undefined
    const one = broken.get(url) ?? { violations: [], errors: [] }
    broken.set(url, one)
    return one
  }
  for (const finding of verdict.violations.filter(isNew)) of(finding.node)?.violations.push(finding)
  for (const failure of verdict.errors.filter(isNew)) of(failure.node)?.errors.push(failure)
  if (broken.size === 0) return ''
  const lines = [...broken]
    .sort(([a, one], [b, two]) => weight(two) - weight(one) || (a < b ? -1 : 1))
    .map(([url, one]) => `${code(nameOf(url))} (${what(one)})`)
  const shown = lines.slice(0, MAX_REPOSITORIES)
  const left = lines.length - shown.length
  return `**Would break:** ${shown.join(', ')}${andMore(left)}`
}

interface Broken {
  readonly violations: readonly Finding[]
  readonly errors: readonly NodeFailure[]
}

const weight = ({ violations, errors }: Broken) => violations.length + errors.length

function what({ violations, errors }: Broken): string {
  const parts = [
    ...(violations.length > 0 ? [count(countFindings(violations), 'new violation')] : []),
    ...(errors.length > 0 ? [count(errors.length, 'new error')] : []),
  ]
  const clusters = [...new Set([...violations, ...errors].map(item => item.cluster))].sort()
  const shown = clusters.slice(0, MAX_CLUSTERS).map(name => code(name, 80))
  const rest = andMore(clusters.length - shown.length)
  return `${parts.join(', ')} on ${shown.join(', ')}${rest}`
}

/** `acme/dev-team` of github.com; the whole address of any other host. */
const nameOf = (url: string) => shortUrl(url).replace(/^github\.com\//, '')
