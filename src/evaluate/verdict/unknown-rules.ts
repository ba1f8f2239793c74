import { shown } from '../../facts/shown.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import type { NamedRule } from '../../fleet/model/fleet-config.ts'
import { removedWarning } from '../../message/removed.ts'
import type { NodeFailure } from '../../rules/model/finding.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import { failureOf } from './finding-of.ts'
import { isHeavier } from './level-of.ts'

/**
 * Rules that the fleet's file or a tenant's own names and that are none, and those that a tenant's own file would make
 * count less: errors of the nodes that the file is about. A misspelt rule would otherwise count as before, unnoticed.
 */
export function unknownRules(fleet: Fleet, rules: readonly RuleText[]): NodeFailure[] {
  const byId = new Map(rules.map(rule => [rule.id, rule]))
  const wrong = fleet.proposed.namedRules.filter(({ id }) => !byId.has(id) && !isRemoved(id))
  const roots = wrong.length === 0 ? [] : fleet.nodes.filter(node => node.parent === undefined)
  const failures = wrong.flatMap(named => roots.map(root => failed(root, named, unknown(named))))
  for (const [tenant, { own }] of fleet.config.tenants) {
    for (const named of own?.namedRules ?? []) {
      const rule = byId.get(named.id)
      const what = rule ? loosened(rule, named, fleet) : isRemoved(named.id) ? undefined : unknown(named)
      if (what === undefined) continue
      const readers = fleet.nodes.filter(node => node.tenant === tenant && node.source.url === named.origin.repository)
      const keys = new Set(readers.map(node => node.key))
      failures.push(...readers.filter(node => !keys.has(node.parent ?? '')).map(node => failed(node, named, what)))
    }
  }
  return failures
}

/** One of an earlier release: `config-unused` warns of it. */
const isRemoved = (id: string) => removedWarning(`rule ${id}`) !== undefined

const unknown = ({ id, key }: NamedRule) => `${key}: ${shown(id)} is not a rule`

function loosened(rule: RuleText, { key, severity }: NamedRule, { config }: Fleet): string | undefined {
  const setting = config.severities.get(rule.id)
  const holds = setting === undefined || setting === 'warning' || setting === 'off' ? rule.severity : setting
  const least = { level: 'violation' as const, severity: holds }
  const isLess = severity !== undefined && severity !== 'warning' && severity !== 'off'
  if (!isLess || !isHeavier(least, { level: 'violation', severity })) return undefined
  return `${key}: ${severity} is lower than ${holds}, the level of the fleet. Allowed: that level or a higher one`
}

function failed(node: FleetNode, { origin }: NamedRule, message: string): NodeFailure {
  return failureOf(
    node,
    {
      code: 'config',
      message: `${origin.file}: ${message}`,
      fix: 'Use a rule of docs/rules.md with an allowed severity, or remove the entry.',
      hides: '',
    },
    origin,
  )
}
