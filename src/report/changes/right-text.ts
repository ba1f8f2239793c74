import type { Right, RightChange } from '../../diff/changes.ts'
import { andMore } from '../../message/and-more.ts'
import { code } from '../../message/markdown.ts'
import { clusterList } from './cluster-list.ts'

/** Groups of Kubernetes itself: what their resources are called says enough. */
const OWN_GROUP = /\.(?:[a-z0-9.-]+\.k8s\.io|apps|batch|autoscaling|policy|extensions)$/
const MAX_SHOWN = 12

/** Who gains or loses what, as lines of Markdown: `dev-team` gains: create `rolebindings` in `apps`. Equal lines once. */
export function rightLines(rights: readonly RightChange[]): string[] {
  const groups = Map.groupBy(rights, ({ cluster: _cluster, subject: _subject, ...rest }) => JSON.stringify(rest))
  const lines = new Map<string, Set<string>>()
  for (const group of groups.values()) {
    for (const cluster of new Set(group.map(one => one.cluster))) {
      const subjects = group.filter(one => one.cluster === cluster).map(one => one.subject)
      for (const line of linesOf(group[0]!, subjects)) lines.set(line, (lines.get(line) ?? new Set()).add(cluster))
    }
  }
  return [...lines].map(([line, clusters]) => `${line}, on ${clusterList([...clusters])}`)
}

function linesOf({ tenant, namespace, gains, loses, unknown }: RightChange, subjects: readonly string[]): string[] {
  const where = namespace === '' ? 'in the whole cluster' : `in ${code(namespace, 80)}`
  const shown = subjects.slice(0, 5).map(one => code(one))
  const all = `${shown.join(', ')}${andMore(subjects.length - 5)}`
  const who = tenant === '' ? all : `${code(tenant, 80)} (${all})`
  const verb = (one: string, many: string) => (tenant === '' && subjects.length > 1 ? many : one)
  const roles = unknown.map(role => code(role)).join(', ')
  return [
    ...(gains.length > 0 ? [`${who} ${verb('gains', 'gain')}: ${listText(gains)} ${where}`] : []),
    ...(loses.length > 0 ? [`${who} ${verb('loses', 'lose')}: ${listText(loses)} ${where}`] : []),
    ...(unknown.length > 0
      ? [
          `${who} ${verb('is', 'are')} bound ${where} to ${roles}, which the fleet does not render, so the rights are unknown`,
        ]
      : []),
  ]
}

function listText(rights: readonly Right[]): string {
  if (rights.some(isEverything)) return 'do everything'
  const shown = rights.slice(0, MAX_SHOWN).map(rightText)
  const left = rights.length - shown.length
  return `${shown.join('; ')}${andMore(left)}`
}

const isEverything = ({ verbs, resource, names }: Right): boolean =>
  verbs.includes('*') && resource === '*.*' && names.length === 0

function rightText({ verbs, resource, names }: Right): string {
  const what = resource === '*.*' ? 'everything' : code(resource.replace(OWN_GROUP, ''))
  const only = names.length > 0 ? ` named ${names.map(name => code(name, 80)).join(', ')}` : ''
  return `${verbs.includes('*') ? 'do anything with' : verbs.map(verb => verbText(verb)).join(', ')} ${what}${only}`
}

const verbText = (verb: string): string => (/^[a-z]+$/.test(verb) ? verb : code(verb, 40))
