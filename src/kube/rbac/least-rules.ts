import type { PolicyRule } from './policy-rule.ts'
import type { ResourceRequest } from './request.ts'

/** Rules by namespace; '' for those of the whole cluster. */
export type RulesByNamespace = ReadonlyMap<string, readonly PolicyRule[]>

/** Verbs in the order in which people write them. */
const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete', 'bind', 'escalate']
/** They give rights to others: always for one name. */
const GRANTING = new Set(['bind', 'escalate'])

/**
 * The rules that allow exactly these requests, in each namespace. What is shared with others is allowed by name: objects of
 * the whole cluster, those of a namespace in `shared`, and roles.
 */
export function leastRules(requests: readonly ResourceRequest[], shared: ReadonlySet<string>): RulesByNamespace {
  const byNamespace = Map.groupBy(requests, ({ namespace = '' }) => namespace)
  return new Map(
    [...byNamespace]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([namespace, own]) => [namespace, rulesOf(own, namespace === '' || shared.has(namespace))] as const),
  )
}

function rulesOf(requests: readonly ResourceRequest[], isShared: boolean): PolicyRule[] {
  const resources = new Map<string, { group: string; resource: string; names: readonly string[]; verbs: Set<string> }>()
  const byVerb = Map.groupBy(requests, ({ verb, apiGroup, resource }) => JSON.stringify([apiGroup, resource, verb]))
  for (const [key, own] of byVerb) {
    const [group, resource, verb] = JSON.parse(key) as [string, string, string]
    const names = isShared || GRANTING.has(verb) ? [...new Set(own.map(one => one.name ?? ''))].sort() : []
    // a request without a name, like `list`, is never allowed by one
    const allowed = names.includes('') ? [] : names
    const place = JSON.stringify([group, resource, allowed])
    const known = resources.get(place) ?? { group, resource, names: allowed, verbs: new Set<string>() }
    known.verbs.add(verb)
    resources.set(place, known)
  }
  const rules = Map.groupBy(resources.values(), ({ group, names, verbs, resource }) =>
    JSON.stringify([group, names.length > 0 ? [resource, names] : [], sortedVerbs(verbs)]),
  )
  return [...rules.values()]
    .map(same => ({
      apiGroups: [same[0]!.group],
      resources: same.map(({ resource }) => resource).sort(),
      resourceNames: same[0]!.names,
      verbs: sortedVerbs(same[0]!.verbs),
      nonResourceURLs: [],
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const sortedVerbs = (verbs: Iterable<string>) => [...verbs].sort((a, b) => VERBS.indexOf(a) - VERBS.indexOf(b))
const orderOf = (rule: PolicyRule) => JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.verbs])
